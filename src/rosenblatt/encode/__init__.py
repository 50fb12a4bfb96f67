"""Cells, columns and lines to rows of features."""

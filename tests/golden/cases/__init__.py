"""What is hashed: one file of cases for each room of the library.

Invariant: only names that a user can import are used, so that the cases outlive any change inside.
"""

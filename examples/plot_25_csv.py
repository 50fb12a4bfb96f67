"""
From a messy CSV to a model
===========================

Decimal commas, units, gaps and categories: ``train`` reads what people write, and the model reads the next file alike.
"""

import random
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import rosenblatt

random.seed(0)
folder = Path(tempfile.mkdtemp())
for name, rows in (("train.csv", 600), ("new.csv", 200)):
    lines = ["Weight;City;Price;Sold"]
    for _ in range(rows):
        weight, city = random.uniform(1, 30), random.choice(["Bonn", "Köln", "Trier", ""])
        price = 40 * weight + (300 if city == "Köln" else 0) + random.gauss(0, 150)
        sold = "yes" if price < 800 else "no"
        lines.append(
            f"{weight:.1f} kg;{city};{price:,.2f} €;{sold}".replace(",", "~").replace(".", ",").replace("~", ".")
        )
    (folder / name).write_text("\n".join(lines), encoding="utf-8")
print((folder / "train.csv").read_text(encoding="utf-8")[:110])

model = rosenblatt.train(folder / "train.csv", label="Sold")
rosenblatt.save(model, folder / "sold.model")
loaded = rosenblatt.load(folder / "sold.model")
print(loaded.predict_one({"Weight": "3,5 kg", "City": "Trier", "Price": "212,00 €"}))

# %%
# What the model looks at:
parts = loaded.explain({"Weight": "3,5 kg", "City": "Trier", "Price": "212,00 €"}, 6)[::-1]
figure, axes = plt.subplots(figsize=(5, 3))
axes.barh([str(part.feature) for part in parts], [part.share for part in parts])
axes.set_xlabel("share of the score")
figure.tight_layout()
plt.show()

"""Pictures of objects and of the steps of an InferenceGraph: one model, four forms.

`boxes.py` has the model, `graphs.py` and `objects.py` make one; `tree.py`, `dot.py`,
`mermaid.py` and `svg.py` each write one form of it.
"""

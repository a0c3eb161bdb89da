# mypy: ignore-errors
class OrderedSet(dict):
    """A set that keeps the order in which its elements came."""

    def __init__(self, elements=()):
        super().__init__(dict.fromkeys(elements))

    def add(self, element):
        self[element] = None

    def update(self, elements):
        super().update(dict.fromkeys(elements))

    def discard(self, element):
        self.pop(element, None)

    def remove(self, element):
        del self[element]

"""The combinations (牌型): reading of cards, comparison of two plays, and their notation."""

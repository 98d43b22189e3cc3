"""Guandan's combinations (牌型): what cards are, which of two is greater, and how to write them."""

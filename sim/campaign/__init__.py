"""Campaigns: thousands of simulated deals with faults, judged by the truth of the mechanics."""

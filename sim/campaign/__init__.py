"""Campaigns: thousands of simulated deals with faults, judged by the true card positions."""

"""Campaigns: simulated deals with faults by the thousand; the mechanics' truth is the judge."""

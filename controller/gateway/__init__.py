"""The gateway process, which serves clients on the network. It never receives a hidden face."""

"""Files for the root folder of a chip's file system."""

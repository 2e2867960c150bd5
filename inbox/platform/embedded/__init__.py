"""The parts of the one-process shape: broker, channel layer and database backend."""

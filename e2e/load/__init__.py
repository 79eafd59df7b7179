"""A model in use while its service is changed and its controller dies: nobody notices."""

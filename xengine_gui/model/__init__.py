"""What is planned: graphs, devices, problems and plans, as frozen data that checks itself."""

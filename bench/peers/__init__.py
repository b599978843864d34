"""Other people's systems, installed as they say, under the same load as ours."""

"""The yaw error: its model, budget, statistics, identification and judgement."""

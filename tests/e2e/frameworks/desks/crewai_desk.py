"""A flow behind CrewAI's bridge, at /agui, and with outcomes at /outcome."""

import os

import desk

os.environ |= {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "OTEL_SDK_DISABLED": "true",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "CREWAI_STORAGE_DIR": str(desk.DATA),
}

from ag_ui_crewai._hitl import agui_feedback_provider
from ag_ui_crewai.endpoint import add_crewai_flow_fastapi_endpoint
from ag_ui_crewai.sdk import CopilotKitState
from crewai.flow.flow import Flow, listen, start
from crewai.flow.human_feedback import human_feedback
from fastapi import FastAPI


class Refund(Flow[CopilotKitState]):
    @start()
    @human_feedback(message="Refund 47.5 EUR of order A1?", provider=agui_feedback_provider)
    def draft(self):
        return desk.REFUND

    @listen(draft)
    def decide(self, result):
        if str(getattr(result, "feedback", result)) == "yes":
            desk.issue_refund(**desk.REFUND)


app = FastAPI()
add_crewai_flow_fastapi_endpoint(app, Refund(), "/agui")
add_crewai_flow_fastapi_endpoint(app, Refund(), "/outcome", emit_interrupt_outcome=True)

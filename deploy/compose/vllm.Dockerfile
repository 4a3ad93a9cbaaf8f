# vLLM with the worker that sends activations; built in clients/python.
FROM vllm/vllm-openai:v0.32.0
COPY . /opt/plumbline
RUN python3 -m pip install --no-cache-dir /opt/plumbline

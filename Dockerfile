# Pin it by digest: tools/prepare_deployment.py writes one into .env, and Compose passes it on.
ARG PYTHON_IMAGE=python:3.13-slim
FROM ${PYTHON_IMAGE} AS packages
# Frameworks of agents, such as "langgraph pydantic-ai": pyproject.toml has them all.
ARG EXTRAS=""
COPY requirements/*.txt /requirements/
RUN python -m venv /venv \
    && for name in base $EXTRAS; do \
        /venv/bin/pip install --no-cache-dir --disable-pip-version-check \
            --no-deps --require-hashes -r /requirements/$name.txt || exit 1; \
    done \
    && /venv/bin/pip check

FROM ${PYTHON_IMAGE}
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    SIGNOFF_DATA_DIR=/data \
    SIGNOFF_LEDGER=/data/rehearsal-ledger.sqlite3 \
    HOST=0.0.0.0 \
    PORT=8000
RUN useradd --system --uid 10001 --no-create-home signoff \
    && install --directory --owner signoff /data
COPY --from=packages /venv /venv
WORKDIR /srv/signoff
COPY manage.py pyproject.toml ./
COPY agents agents
COPY inbox inbox
COPY tools tools
COPY docs docs
COPY templates templates
COPY static static
COPY locale locale
# Collected once, here. The key signs nothing.
ENV SIGNOFF_STATIC_ROOT=/srv/signoff/staticfiles
RUN SIGNOFF_DATA_DIR=/tmp/build SIGNOFF_SECRET_KEY=build-build-build-build-build-build \
        python -B manage.py collectstatic --no-input --verbosity 0 --ignore rest_framework --ignore select2 \
    && chmod -R a+rX /srv/signoff/staticfiles \
    && rm -r /tmp/build \
    && python -m compileall -q agents inbox tools
# By number, so that Kubernetes can see that it is not root.
USER 10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD \
    ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ['PORT'] + '/livez', timeout=4)"]
CMD ["python", "manage.py", "serve"]

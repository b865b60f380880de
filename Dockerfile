# The site as one image, for web processes and workers alike: `docker compose up` starts both with PostgreSQL and Redis.
FROM python:3.11.13-slim-bookworm AS build
COPY requirements.txt /
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.txt

FROM python:3.11.13-slim-bookworm
RUN useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin taskmonkey \
 && install -d -o taskmonkey -g taskmonkey -m 700 /data
COPY --from=build /venv /venv
COPY . /site
WORKDIR /site
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 TASKMONKEY_HOME=/data TASKMONKEY_LOG_FORMAT=json
USER taskmonkey
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
CMD ["python", "manage.py", "team", "--host=0.0.0.0", "--workers=0", "--no-prepare", "--no-link"]

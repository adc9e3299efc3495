# Server, web UI, worker and command line in one image, with a PostgreSQL for those who have none:
#
#   docker build -t trueweave .
#   docker run --name trueweave -p 127.0.0.1:8000:8000 -v trueweave:/data trueweave
#   docker exec trueweave trueweave keys create me --scope admin    # the key is shown once
#
# With TRUEWEAVE_DATABASE_URL, that database is used instead, and nothing is written to /data but embedding models. What embeds
# Trueweave in a program (retrievers for other frameworks) is left out.
FROM python:3.13-slim AS python
WORKDIR /src
RUN python -m venv /opt/trueweave
COPY requirements/image.txt requirements/
RUN /opt/trueweave/bin/pip install --no-cache-dir --require-hashes -r requirements/image.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY tools/write_openapi.py tools/
RUN /opt/trueweave/bin/pip install --no-cache-dir --no-deps . \
    && /opt/trueweave/bin/python tools/write_openapi.py openapi.json

FROM node:24-slim AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN npm ci --no-audit --no-fund
COPY web ./
COPY --from=python /src/openapi.json ./
RUN npm run types && npm run build

FROM python:3.13-slim
RUN useradd --system --create-home --uid 10001 trueweave \
    && install --directory --owner=10001 /data /home/trueweave/.cache
COPY --from=python /opt/trueweave /opt/trueweave
COPY --from=web /src/src/trueweave/server/web/ui /opt/trueweave/lib/python3.13/site-packages/trueweave/server/web/ui
COPY --chmod=755 deploy/entrypoint.sh /usr/local/bin/entrypoint
USER 10001
WORKDIR /home/trueweave
ENV PATH=/opt/trueweave/bin:$PATH PYTHONDONTWRITEBYTECODE=1 TRUEWEAVE_DATA_DIRECTORY=/data/postgresql
# Nothing is written but uploads, to /tmp, embedding models by name, to ~/.cache, and the database, to /data: the root may be
# read-only where these are mounted.
VOLUME ["/data"]
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD \
    ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
ENTRYPOINT ["entrypoint"]
CMD ["serve", "--host", "0.0.0.0"]

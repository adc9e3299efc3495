# Server, worker and command line in one image, with all that they can use. What embeds Trueweave in a program (retrievers
# for other frameworks) and the bundled PostgreSQL are left out.
FROM python:3.13-slim AS build
WORKDIR /src
RUN python -m venv /opt/trueweave
COPY requirements/image.txt requirements/
RUN /opt/trueweave/bin/pip install --no-cache-dir --require-hashes -r requirements/image.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/trueweave/bin/pip install --no-cache-dir --no-deps .

FROM python:3.13-slim
RUN useradd --system --create-home --uid 10001 trueweave
COPY --from=build /opt/trueweave /opt/trueweave
USER 10001
WORKDIR /home/trueweave
ENV PATH=/opt/trueweave/bin:$PATH PYTHONDONTWRITEBYTECODE=1
# Nothing is written but uploads, to /tmp, and embedding models by name, to ~/.cache: the root may be read-only where these two
# are mounted.
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD \
    ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
ENTRYPOINT ["trueweave"]
CMD ["serve", "--host", "0.0.0.0"]

FROM python:3.13-slim AS build
WORKDIR /src
RUN python -m venv /opt/trueweave
COPY requirements/base.txt requirements/
RUN /opt/trueweave/bin/pip install --no-cache-dir --require-hashes -r requirements/base.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/trueweave/bin/pip install --no-cache-dir --no-deps .

FROM python:3.13-slim
RUN useradd --system --create-home trueweave
COPY --from=build /opt/trueweave /opt/trueweave
USER trueweave
WORKDIR /home/trueweave
ENV PATH=/opt/trueweave/bin:$PATH
ENTRYPOINT ["trueweave"]
CMD ["--help"]

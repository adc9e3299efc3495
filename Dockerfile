FROM python:3.13-slim AS build
WORKDIR /src
RUN python -m venv /opt/weft
COPY requirements/base.txt requirements/
RUN /opt/weft/bin/pip install --no-cache-dir --require-hashes -r requirements/base.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/weft/bin/pip install --no-cache-dir --no-deps .

FROM python:3.13-slim
RUN useradd --system --create-home weft
COPY --from=build /opt/weft /opt/weft
USER weft
WORKDIR /home/weft
ENV PATH=/opt/weft/bin:$PATH
ENTRYPOINT ["weft"]
CMD ["--help"]

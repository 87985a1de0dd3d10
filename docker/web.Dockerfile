# The server of agora web, and its workers. Build from the project's folder:  docker build --file docker/web.Dockerfile --tag agora-web .
# With the packages of learning, for the page of trainings:   docker build --build-arg EXTRAS=web,learning ...
FROM debian:bookworm AS built
RUN apt-get update --quiet=2 \
    && apt-get install --yes --quiet=2 --no-install-recommends ca-certificates make npm python3-venv > /dev/null
WORKDIR /source
COPY . .
RUN make web && python3 -m venv /tools && /tools/bin/pip wheel --quiet --no-deps --wheel-dir /wheels .

FROM debian:bookworm
ARG EXTRAS=web
RUN apt-get update --quiet=2 \
    && apt-get install --yes --quiet=2 --no-install-recommends ca-certificates libseccomp2 python3-venv > /dev/null \
    && rm -rf /var/lib/apt/lists/*
COPY requirements.lock /opt/
COPY --from=built /wheels /opt/wheels
RUN python3 -m venv /opt/agora \
    && /opt/agora/bin/pip install --quiet --no-cache-dir --constraint /opt/requirements.lock "$(echo /opt/wheels/*.whl)[$EXTRAS]" \
    && useradd --create-home agora && install --directory --owner agora /data /cache
USER agora
WORKDIR /data
# Compiled kernels are kept in a volume: they fit one kind of processor.
ENV PATH=/opt/agora/bin:$PATH NUMBA_CACHE_DIR=/cache
VOLUME /data /cache
EXPOSE 8080
ENTRYPOINT ["agora"]
CMD ["web", "/data", "--host", "0.0.0.0", "--no-browser"]

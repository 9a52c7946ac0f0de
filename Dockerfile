# The same Node as in package.json. The digest is that of all platforms; Renovate keeps it current.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6

# What runs something runs on the platform of the builder, which needs no emulator: what it makes is the same for all
# platforms.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --loglevel=error
COPY tsconfig.json ./
COPY tools/bundle ./tools/bundle
COPY src ./src
RUN node tools/bundle/main.ts bundle
ARG REVISION=
RUN echo "${REVISION}" > bundle/dist/commit

FROM ${NODE_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=
ARG SOURCE=https://github.com/tunnelgateway/tunnel-gateway-operator
LABEL org.opencontainers.image.title="tunnel-gateway-operator" \
  org.opencontainers.image.description="Manages a tunnel gateway account through custom resources" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.source="${SOURCE}" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
# glibc would keep memory for each thread, which takes 15 MiB
ENV NODE_ENV=production MALLOC_ARENA_MAX=1
COPY --from=build /app/bundle ./
COPY LICENSE ./
# of nobody on the machine, and a number, so that Kubernetes can tell that it is not root
USER 65532:65532
EXPOSE 8080
# Without a shell in between, so that signals reach the operator. By itself, the heap would grow by the machine and not by
# what it holds: its young part to 128 MiB, and the old one to four times what is in use before it is cleaned up.
ENTRYPOINT ["node", "--max-semi-space-size=8", "--heap-growing-percent=20", "dist/main.js"]
CMD ["run"]

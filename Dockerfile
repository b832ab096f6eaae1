# The image of every container of docker-compose.yml. It is built from a checkout alone: nats-server comes the same
# way as with `npm start`, from Debian's newest suite, checked by apt's signatures.
FROM node:20-bookworm AS build
WORKDIR /src
COPY . .
RUN npm ci --no-audit --no-fund
RUN node infra/dev/build.mjs
RUN node dist/docker.mjs fetch-nats /usr/local/bin/nats-server

FROM node:20-bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /usr/local/bin/nats-server /usr/local/bin/nats-server
COPY --from=build /src/package.json ./
COPY --from=build /src/dist ./dist
COPY --from=build /src/apps/web/dist ./apps/web/dist
# The bundles hold everything but the native module.
COPY --from=build /src/node_modules/better-sqlite3 ./node_modules/better-sqlite3
COPY --from=build /src/node_modules/bindings ./node_modules/bindings
COPY --from=build /src/node_modules/file-uri-to-path ./node_modules/file-uri-to-path
# A new volume takes over the owner of the folder that it is mounted on.
RUN mkdir -p /data /workspaces \
    /homes/nats /homes/gateway /homes/agent /homes/tool-runner /homes/memory /homes/channels \
  && chown -R node:node /data /homes /workspaces
USER node
ENV NODE_ENV=production ROOKERY_HOME=/data
VOLUME ["/data", "/workspaces"]
ENTRYPOINT ["node", "dist/docker.mjs"]
HEALTHCHECK NONE

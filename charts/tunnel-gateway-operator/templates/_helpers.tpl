{{- define "tunnel-gateway-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Short enough for the suffixes that objects add to it. */}}
{{- define "tunnel-gateway-operator.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "tunnel-gateway-operator.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "tunnel-gateway-operator.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "tunnel-gateway-operator.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{- define "tunnel-gateway-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "tunnel-gateway-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tunnel-gateway-operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "tunnel-gateway-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: tunnel-gateway-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Without versions, so that a new chart alone restarts nothing. */}}
{{- define "tunnel-gateway-operator.podLabels" -}}
{{ include "tunnel-gateway-operator.selectorLabels" . }}
app.kubernetes.io/part-of: tunnel-gateway-operator
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Given (list context map): an annotations member of the map and the common annotations, or nothing. */}}
{{- define "tunnel-gateway-operator.annotations" -}}
{{- with merge (dict) (index . 1 | default dict) ((index . 0).Values.commonAnnotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "tunnel-gateway-operator.crdAnnotations" -}}
{{- $keep := ternary (dict "helm.sh/resource-policy" "keep") (dict) .Values.crds.keep }}
{{- with merge $keep (.Values.crds.annotations | default dict) (.Values.commonAnnotations | default dict) }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- define "tunnel-gateway-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "tunnel-gateway-operator.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "tunnel-gateway-operator.image" -}}
{{- $repository := .Values.image.repository }}
{{- with .Values.image.registry }}{{ $repository = printf "%s/%s" . $repository }}{{ end }}
{{- if .Values.image.digest }}
{{- printf "%s@%s" $repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{/* As leaseNameOf in src/schema/contract.ts. */}}
{{- define "tunnel-gateway-operator.leaseName" -}}
{{- eq .Values.installation "default" | ternary "tunnel-gateway-operator" (printf "tunnel-gateway-operator-%s" .Values.installation) }}
{{- end }}

{{- define "tunnel-gateway-operator.secretName" -}}
{{- default (printf "%s-credentials" (include "tunnel-gateway-operator.fullname" .)) .Values.credentials.existingSecret }}
{{- end }}

{{- define "tunnel-gateway-operator.baseURL" -}}
{{- required "gateway.baseURL is required: the base address of the management API, such as https://api.gateway.example" .Values.gateway.baseURL }}
{{- end }}

{{/* What every command of the image needs to know about the cluster. */}}
{{- define "tunnel-gateway-operator.rightsBinding" -}}
{{ include "tunnel-gateway-operator.fullname" . }}-deletion
{{- end }}

{{- define "tunnel-gateway-operator.rightsBindingRule" }}
# Keep these rights in a namespace until its last object has ended
- apiGroups:
    - rbac.authorization.k8s.io
  resources:
    - rolebindings
  resourceNames:
    - {{ include "tunnel-gateway-operator.rightsBinding" . }}
  verbs:
    - get
    - patch
{{- end }}

{{- define "tunnel-gateway-operator.clusterEnv" -}}
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
{{- with .Values.watchNamespaces }}
- name: WATCH_NAMESPACES
  value: {{ join "," . | quote }}
{{- if $.Values.rbac.create }}
- name: RIGHTS_BINDING
  value: {{ include "tunnel-gateway-operator.rightsBinding" $ }}
{{- end }}
{{- end }}
{{- with .Values.watchSelector }}
- name: WATCH_SELECTOR
  value: {{ . | quote }}
{{- end }}
- name: INSTALLATION
  value: {{ .Values.installation | quote }}
- name: LOG_LEVEL
  value: {{ .Values.logLevel }}
{{- end }}

{{- define "tunnel-gateway-operator.env" -}}
{{ include "tunnel-gateway-operator.settings" . }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The variables that follow from the values. */}}
{{- define "tunnel-gateway-operator.settings" -}}
{{ include "tunnel-gateway-operator.clusterEnv" . }}
{{- if and .Values.watchNamespaces (not .Values.rbac.namespaceDeletion) }}
- name: KEEP_RIGHTS_BINDING
  value: "false"
{{- end }}
- name: GATEWAY_BASE_URL
  value: {{ include "tunnel-gateway-operator.baseURL" . | quote }}
- name: GATEWAY_API_KEY_FILE
  value: /var/run/tunnel-gateway/api-key
{{- if .Values.gateway.allowPlaintext }}
- name: GATEWAY_ALLOW_PLAINTEXT
  value: "true"
{{- end }}
{{- if .Values.gateway.accountConfirmed }}
- name: GATEWAY_ACCOUNT_CONFIRMED
  value: "true"
{{- end }}
- name: GATEWAY_UNDOCUMENTED_OPERATIONS
  value: {{ .Values.gateway.undocumentedOperations | quote }}
- name: REQUESTS_PER_MINUTE
  value: {{ .Values.gateway.requestsPerMinute | int | quote }}
- name: REQUEST_TIMEOUT
  value: {{ .Values.gateway.requestTimeout | quote }}
- name: RESYNC_INTERVAL
  value: {{ .Values.gateway.resyncInterval | quote }}
- name: SESSION_SYNC_INTERVAL
  value: {{ .Values.gateway.sessionSyncInterval | quote }}
- name: MAX_DELETES_PER_MINUTE
  value: {{ .Values.gateway.maxDeletesPerMinute | int | quote }}
{{- with .Values.gateway.allowedHosts }}
- name: ALLOWED_GATEWAY_HOSTS
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.adoption.namespaces }}
- name: ADOPTION_NAMESPACES
  value: {{ join "," . | quote }}
{{- end }}
- name: METRICS_ADDRESS
  value: {{ printf ":%d" (int .Values.metrics.port) | quote }}
- name: LEADER_ELECTION
  value: {{ .Values.leaderElection.enabled | quote }}
- name: WATCH_SECRETS
  value: {{ .Values.secrets.watch | quote }}
- name: EXTERNAL_DNS
  value: {{ .Values.externalDNS.enabled | quote }}
{{- with .Values.externalDNS.namespaces }}
- name: EXTERNAL_DNS_NAMESPACES
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.dns.resolvers }}
- name: DNS_RESOLVERS
  value: {{ join "," . | quote }}
{{- end }}
- name: SECRET_WRITE_NAMESPACES
  value: {{ .Values.secrets.write | ternary (join "," .Values.secrets.writeNamespaces | default "*") "-" | quote }}
{{- with .Values.clusterID }}
- name: CLUSTER_ID
  value: {{ . | quote }}
{{- end }}
{{- with .Values.formerClusterIDs }}
- name: FORMER_CLUSTER_IDS
  value: {{ join "," . | quote }}
{{- end }}
{{- range $name, $key := dict "HTTP_PROXY" "http" "HTTPS_PROXY" "https" }}
{{- if $.Values.proxy.existingSecret }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $.Values.proxy.existingSecret }}
      key: {{ $key }}
      optional: true
{{- else }}
{{- with get $.Values.proxy $key }}
- name: {{ $name }}
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.proxy.noProxy }}
- name: NO_PROXY
  value: {{ . | quote }}
{{- end }}
{{- with .Values.tracing.otlpEndpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- if .Values.trustBundle.configMap }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/tunnel-gateway/trust/ca.crt
{{- end }}
{{- end }}

{{- define "tunnel-gateway-operator.volumeMounts" -}}
- name: credentials
  mountPath: /var/run/tunnel-gateway
  readOnly: true
{{- if .Values.trustBundle.configMap }}
- name: trust
  mountPath: /etc/tunnel-gateway/trust
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* A file rather than a variable: a rotated key is read without a restart, and a Secret may come later. */}}
{{- define "tunnel-gateway-operator.volumes" -}}
- name: credentials
  secret:
    secretName: {{ include "tunnel-gateway-operator.secretName" . }}
    optional: true
    items:
      - key: {{ .Values.credentials.key }}
        path: api-key
{{- with .Values.trustBundle.configMap }}
- name: trust
  configMap:
    name: {{ . }}
    items:
      - key: {{ $.Values.trustBundle.key }}
        path: ca.crt
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* What all pods of the chart have: they run the same image with the same rights on their node. */}}
{{- define "tunnel-gateway-operator.podSpec" -}}
enableServiceLinks: false
automountServiceAccountToken: true
securityContext:
  {{- $user := .Values.runAsImageUser | ternary (dict "runAsUser" 65532 "runAsGroup" 65532) dict }}
  {{- toYaml (merge (dict) (.Values.podSecurityContext | default dict) $user) | nindent 2 }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.dnsPolicy }}
dnsPolicy: {{ . }}
{{- end }}
{{- with .Values.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "tunnel-gateway-operator.container" -}}
image: {{ include "tunnel-gateway-operator.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  {{- toYaml .Values.securityContext | nindent 2 }}
{{- end }}

{{/* Given (list context capability enabled): whether an object of a foreign API is rendered. */}}
{{- define "tunnel-gateway-operator.rendersMonitoring" -}}
{{- $context := index . 0 }}
{{- $present := $context.Capabilities.APIVersions.Has (index . 1) }}
{{- $mode := $context.Values.metrics.renderMode }}
{{- if index . 2 }}
{{- if and (eq $mode "failIfMissing") (not $present) }}
{{- fail (printf "The cluster has no %s: install its CRD, or set metrics.renderMode" (index . 1)) }}
{{- end }}
{{- if or $present (eq $mode "alwaysRender") }}true{{ end }}
{{- end }}
{{- end }}

{{/* The ports of the resolvers: 53, and that of each of dns.resolvers which names one. As YAML, by UDP and by TCP. */}}
{{- define "tunnel-gateway-operator.resolverPorts" -}}
{{- $ports := list 53 }}
{{- range .Values.dns.resolvers }}
{{- /* the colons of an IPv6 address are no port, unless the address is in brackets */}}
{{- with regexFind "^([0-9.]+|\\[.*\\]):[0-9]+$" . }}{{ $ports = append $ports (regexFind "[0-9]+$" . | int) }}{{ end }}
{{- end }}
{{- range $ports | uniq }}
- port: {{ . }}
  protocol: UDP
- port: {{ . }}
  protocol: TCP
{{- end }}
{{- end }}

{{/* The TCP ports of the service, of a proxy and of the collector of traces, beside 443 and 6443. As YAML. */}}
{{- define "tunnel-gateway-operator.gatewayPorts" -}}
{{- $defaults := dict "https" "443" "socks" "1080" }}
{{- $ports := list 443 6443 }}
{{- range list (include "tunnel-gateway-operator.baseURL" .) .Values.proxy.http .Values.proxy.https .Values.tracing.otlpEndpoint }}
{{- if . }}
{{- $port := regexFind ":[0-9]+$" (urlParse .).host | trimPrefix ":" }}
{{- $ports = append $ports (int (default (get $defaults (regexFind "^[a-z]+" (lower .)) | default "80") $port)) }}
{{- end }}
{{- end }}
{{- range .Values.gateway.allowedHosts }}
{{- with regexFind ":[0-9]+$" . }}{{ $ports = append $ports (int (trimPrefix ":" .)) }}{{ end }}
{{- end }}
{{- range $ports | uniq }}
- port: {{ . }}
  protocol: TCP
{{- end }}
{{- end }}

{{/* Fails for values that exclude each other, and for those with which the operator ends at its start: see src/config.ts. */}}
{{- define "tunnel-gateway-operator.checks" -}}
{{- include "tunnel-gateway-operator.labelChecks" . }}
{{- include "tunnel-gateway-operator.choiceChecks" . }}
{{- include "tunnel-gateway-operator.addressChecks" . }}
{{- include "tunnel-gateway-operator.collectorChecks" . }}
{{- include "tunnel-gateway-operator.durationChecks" . }}
{{- include "tunnel-gateway-operator.selectorChecks" . }}
{{- include "tunnel-gateway-operator.environmentChecks" . }}
{{- end }}

{{- define "tunnel-gateway-operator.labelChecks" -}}
{{- $set := list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/version" "app.kubernetes.io/part-of" "app.kubernetes.io/managed-by" "app.kubernetes.io/component" "helm.sh/chart" }}
{{- range $label, $_ := .Values.commonLabels }}
{{- if has $label $set }}{{ fail (printf "commonLabels: the chart sets the label %s itself" $label) }}{{ end }}
{{- end }}
{{- $set = concat $set (keys .Values.commonLabels) }}
{{- $metrics := .Values.metrics }}
{{- $more := dict "podLabels" .Values.podLabels "metrics.serviceMonitor.labels" $metrics.serviceMonitor.labels "metrics.podMonitor.labels" $metrics.podMonitor.labels "metrics.prometheusRule.labels" $metrics.prometheusRule.labels "metrics.grafanaDashboard.labels" $metrics.grafanaDashboard.labels }}
{{- range $value, $labels := $more }}
{{- range $label, $_ := $labels }}
{{- if has $label $set }}{{ fail (printf "%s: the label %s is set already, by the chart or by commonLabels" $value $label) }}{{ end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "tunnel-gateway-operator.choiceChecks" -}}
{{- if not .Values.leaderElection.enabled }}
{{- if gt (int .Values.replicaCount) 1 }}{{ fail "replicaCount: without leaderElection.enabled there can be only one replica" }}{{ end }}
{{- if ne (dig "type" "RollingUpdate" .Values.strategy) "Recreate" }}{{ fail "strategy: without leaderElection.enabled set {type: Recreate}, or two operators work at the same time during an upgrade" }}{{ end }}
{{- end }}
{{- if .Values.watchNamespaces }}
{{- range .Values.secrets.writeNamespaces }}
{{- if not (has . $.Values.watchNamespaces) }}{{ fail (printf "secrets.writeNamespaces: %s is not one of watchNamespaces" .) }}{{ end }}
{{- end }}
{{- end }}
{{- $dns := .Values.externalDNS }}
{{- if and (or $dns.enabled $dns.optIn) (not $dns.namespaces) }}{{ fail "externalDNS.namespaces: name the namespaces whose objects may have DNS records made, or [\"*\"] for all" }}{{ end }}
{{- if and .Values.proxy.existingSecret (or .Values.proxy.http .Values.proxy.https) }}{{ fail "proxy.existingSecret takes the place of proxy.http and proxy.https: choose one" }}{{ end }}
{{- if and (eq .Values.dnsPolicy "None") (not .Values.dnsConfig.nameservers) }}{{ fail "dnsPolicy: None needs dnsConfig.nameservers" }}{{ end }}
{{- end }}

{{- define "tunnel-gateway-operator.addressChecks" -}}
{{- $gateway := .Values.gateway }}
{{- range $name, $url := dict "gateway.baseURL" $gateway.baseURL "tracing.otlpEndpoint" .Values.tracing.otlpEndpoint }}
{{- $authority := regexReplaceAll "^https?://([^/?#]*).*$" $url "${1}" }}
{{- if and $url (not (include "tunnel-gateway-operator.isAuthority" $authority)) }}{{ fail (printf "%s must be a URL that begins with https:// or http://" $name) }}{{ end }}
{{- end }}
{{- $loopback := "^http://(localhost|[^/?#]*\\.localhost|127\\.[0-9]+\\.[0-9]+\\.[0-9]+|\\[::1\\])(:[0-9]+)?([/?#]|$)" }}
{{- if and (hasPrefix "http:" $gateway.baseURL) (not $gateway.allowPlaintext) (not (regexMatch $loopback (lower $gateway.baseURL))) }}
{{- fail "gateway.baseURL must begin with https://, or anybody on the way can read the API key; gateway.allowPlaintext: true allows http://" }}
{{- end }}
{{- range $gateway.allowedHosts }}
{{- if not (include "tunnel-gateway-operator.isAuthority" .) }}{{ fail (printf "gateway.allowedHosts: %s must be a host such as api.example.com or api.example.com:8443" .) }}{{ end }}
{{- end }}
{{- range .Values.dns.resolvers }}
{{- $host := regexReplaceAll "^(\\[.*\\]|[0-9.]+):[0-9]+$" . "${1}" }}
{{- $port := ne $host . | ternary (regexFind "[0-9]+$" .) "53" }}
{{- $isHost := include "tunnel-gateway-operator.isAddress" (trimPrefix "[" $host | trimSuffix "]") }}
{{- if not (and $isHost (eq (hasPrefix "[" $host) (hasSuffix "]" $host)) (include "tunnel-gateway-operator.isPort" $port) (int $port)) }}
{{- fail (printf "dns.resolvers: %s must be an IP address, with a port if it is not 53, such as 10.0.0.10 or 10.0.0.10:5353" .) }}
{{- end }}
{{- end }}
{{- range $name, $url := dict "proxy.http" .Values.proxy.http "proxy.https" .Values.proxy.https }}
{{- $start := regexFind "^(https?|socks5h?)://([^/?#]*@)?" $url }}
{{- $authority := regexFind "^[^/?#]*" (trimPrefix $start $url) }}
{{- $isEncoded := not (regexMatch "%([^0-9a-fA-F]|.[^0-9a-fA-F])" $start) }}
{{- /* no word of the value, which may have a password */}}
{{- if and $url (not (and $start $isEncoded (include "tunnel-gateway-operator.isAuthority" $authority))) }}{{ fail (printf "%s must be the address of a proxy, such as http://proxy.example:3128" $name) }}{{ end }}
{{- end }}
{{- end }}

{{/* An address, a network or a port in noProxy is for the operator to compare. */}}
{{- define "tunnel-gateway-operator.collectorChecks" -}}
{{- $collector := lower .Values.tracing.otlpEndpoint }}
{{- $proxy := get .Values.proxy (hasPrefix "https:" $collector | ternary "https" "http") }}
{{- if and $collector (hasPrefix "socks" $proxy) }}
{{- $host := regexReplaceAll "^https?://(\\[[^]]*\\]|[^/?#:]*).*$" $collector "${1}" }}
{{- $isNamed := or (eq $host "localhost") (hasPrefix "127." $host) (eq $host "[::1]") }}
{{- range splitList "," (lower .Values.proxy.noProxy) }}
{{- $entry := trim . }}
{{- $below := regexReplaceAll "^[*]?[.]" $entry "" | printf ".%s" }}
{{- if and $entry (or (eq $entry "*") (regexMatch "[:/]" $entry) (eq $entry $host) (hasSuffix $below $host)) }}{{ $isNamed = true }}{{ end }}
{{- end }}
{{- if not $isNamed }}{{ fail (printf "tracing.otlpEndpoint: add %s to proxy.noProxy, since traces cannot pass a SOCKS proxy" $host) }}{{ end }}
{{- end }}
{{- end }}

{{- define "tunnel-gateway-operator.durationChecks" -}}
{{- range $name := list "requestTimeout" "resyncInterval" "sessionSyncInterval" }}
{{- $seconds := include "tunnel-gateway-operator.seconds" (get $.Values.gateway $name) | float64 }}
{{- $isOff := and (eq $name "sessionSyncInterval") (eq $seconds 0.0) }}
{{- if and (lt $seconds 1.0) (not $isOff) }}{{ fail (printf "gateway.%s must be a duration of at least one second, such as 30s, 5m or 1h30m" $name) }}{{ end }}
{{- end }}
{{- end }}

{{/* The schema has looked at the form of the selector. This is about one that no object can match. */}}
{{- define "tunnel-gateway-operator.selectorChecks" -}}
{{- $keys := dict }}
{{- range regexFindAll "[^,(]+(\\([^)]*\\))?" .Values.watchSelector -1 }}
{{- $key := regexFind "[^!=\\s(]+" . }}
{{- $isAbsent := hasPrefix "!" (trim .) }}
{{- $isCompared := regexMatch "[=(]" . }}
{{- $excludes := regexMatch "!=|\\snotin\\s*\\(" . }}
{{- $values := list }}
{{- if $isCompared }}{{ range regexFind "(=[^=]*|\\(.*\\))$" . | trimAll "=()" | splitList "," }}{{ $values = append $values (trim .) }}{{ end }}{{ end }}
{{- $now := dict "optional" (or $isAbsent $excludes) "except" (or $excludes (not (or $isAbsent $isCompared))) "values" $values }}
{{- $before := get $keys $key | default (dict "optional" true "except" true "values" list) }}
{{- $both := concat $before.values $now.values }}
{{- if not (and $before.except $now.except) }}
{{- $first := $before.except | ternary $now $before }}
{{- $second := $before.except | ternary $before $now }}
{{- $both = list }}
{{- range $first.values }}{{ if ne (has . $second.values) $second.except }}{{ $both = append $both . }}{{ end }}{{ end }}
{{- end }}
{{- $allowed := dict "optional" (and $before.optional $now.optional) "except" (and $before.except $now.except) "values" $both }}
{{- if not (or $allowed.optional $allowed.except $both) }}{{ fail (printf "watchSelector selects nothing: no label %s is as it says" $key) }}{{ end }}
{{- $_ := set $keys $key $allowed }}
{{- end }}
{{- end }}

{{- define "tunnel-gateway-operator.environmentChecks" -}}
{{- /* these are set by some values only; all others are there anyway */}}
{{- $names := list "GATEWAY_API_KEY" "WATCH_NAMESPACES" "WATCH_SELECTOR" "RIGHTS_BINDING" "KEEP_RIGHTS_BINDING" "GATEWAY_ALLOW_PLAINTEXT" "GATEWAY_ACCOUNT_CONFIRMED" "ALLOWED_GATEWAY_HOSTS" "ADOPTION_NAMESPACES" "EXTERNAL_DNS_NAMESPACES" "DNS_RESOLVERS" "CLUSTER_ID" "FORMER_CLUSTER_IDS" "OTEL_EXPORTER_OTLP_ENDPOINT" "HTTP_PROXY" "HTTPS_PROXY" "NO_PROXY" "http_proxy" "https_proxy" "no_proxy" }}
{{- range include "tunnel-gateway-operator.settings" . | fromYamlArray }}{{ $names = append $names .name }}{{ end }}
{{- range .Values.extraEnv }}
{{- if has .name $names }}{{ fail (printf "extraEnv: %s is set by a value of the chart, or is there twice" .name) }}{{ end }}
{{- $names = append $names .name }}
{{- end }}
{{- end }}

{{/* The seconds of a duration such as 1h30m. */}}
{{- define "tunnel-gateway-operator.seconds" -}}
{{- $units := dict "h" 3600.0 "m" 60.0 "s" 1.0 "ms" 0.001 }}
{{- $sum := 0.0 }}
{{- range regexFindAll "[0-9.]+(h|ms|m|s)" . -1 }}
{{- $sum = addf $sum (mulf (regexFind "^[0-9.]+" .) (get $units (regexFind "[a-z]+$" .))) }}
{{- end }}
{{- $sum }}
{{- end }}

{{/* Whether a text is a host, with or without a port, as in a URL. True or nothing, as the next ones. */}}
{{- define "tunnel-gateway-operator.isAuthority" -}}
{{- $host := regexReplaceAll ":[0-9]+$" . "" }}
{{- $port := trimPrefix $host . | trimPrefix ":" | default "443" }}
{{- $isNamed := regexMatch "^[-_.a-zA-Z0-9]+$" $host }}
{{- /* what ends with a number is an address, or nothing */}}
{{- if regexMatch "(^|\\.)([0-9]+|0[xX][0-9a-fA-F]*)\\.?$" $host }}{{ $isNamed = include "tunnel-gateway-operator.isAddress" $host }}{{ end }}
{{- if regexMatch "^\\[.*:.*\\]$" $host }}{{ $isNamed = include "tunnel-gateway-operator.isAddress" (trimAll "[]" $host) }}{{ end }}
{{- if and $isNamed (include "tunnel-gateway-operator.isPort" $port) }}true{{ end }}
{{- end }}

{{- define "tunnel-gateway-operator.isPort" -}}
{{- if and (regexMatch "^[0-9]{1,5}$" .) (le (atoi .) 65535) }}true{{ end }}
{{- end }}

{{/* Whether a text is an IPv4 or an IPv6 address, without brackets. */}}
{{- define "tunnel-gateway-operator.isAddress" -}}
{{- $byte := "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])" }}
{{- $ipv4 := printf "%s(\\.%s){3}$" $byte $byte }}
{{- $text := regexReplaceAll (print ":" $ipv4) . ":0:0" }}
{{- $groups := regexFindAll "[0-9a-fA-F]+" $text -1 | len }}
{{- $isIPv6 := regexMatch "^(G(:G)*)?(::(G(:G)*)?)?$" (regexReplaceAll "[0-9a-fA-F]{1,4}" $text "G") }}
{{- $isWhole := contains "::" $text | ternary (le $groups 7) (eq $groups 8) }}
{{- if or (regexMatch (print "^" $ipv4) .) (and $isIPv6 $isWhole) }}true{{ end }}
{{- end }}

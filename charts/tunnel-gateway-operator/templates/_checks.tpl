{{/* Fails for values that exclude each other. */}}
{{- define "tunnel-gateway-operator.checks" -}}
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
{{- if not .Values.leaderElection.enabled }}
{{- if gt (int .Values.replicaCount) 1 }}{{ fail "replicaCount: without leaderElection.enabled there can be only one replica" }}{{ end }}
{{- if ne (dig "type" "RollingUpdate" .Values.strategy) "Recreate" }}{{ fail "strategy: without leaderElection.enabled set {type: Recreate}, or two operators work at the same time during an upgrade" }}{{ end }}
{{- end }}
{{- if .Values.watchNamespaces }}
{{- range .Values.secrets.writeNamespaces }}
{{- if not (has . $.Values.watchNamespaces) }}{{ fail (printf "secrets.writeNamespaces: %s is not one of watchNamespaces" .) }}{{ end }}
{{- end }}
{{- end }}
{{- if and .Values.proxy.existingSecret (or .Values.proxy.http .Values.proxy.https) }}{{ fail "proxy.existingSecret takes the place of proxy.http and proxy.https: choose one" }}{{ end }}
{{- end }}

{{/* Names and labels, and the choice of rights by what an installation does. */}}

{{- define "ingressctl.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What lies outside of the release's namespace carries that namespace in its name. */}}
{{- define "ingressctl.outsideName" -}}
{{- printf "%s-%s" .Release.Namespace (include "ingressctl.fullname" .) -}}
{{- end -}}

{{- define "ingressctl.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (include "ingressctl.fullname" .) -}}
{{- end -}}

{{/* The controller's certificate is for this name, so it is the same in every release. */}}
{{- define "ingressctl.xdsService" -}}ingressctl-xds{{- end -}}

{{- define "ingressctl.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "ingressctl.labels" -}}
{{ include "ingressctl.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: {{ .root.Chart.Name }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* The features of rights.yaml that are on, separated by spaces. */}}
{{- define "ingressctl.features" -}}
{{- $on := .Values.write -}}
{{- range .Values.providers }}{{ $on = append $on (printf "provider:%s" .) }}{{ end -}}
{{- if not .Values.dryRun }}{{ $on = append $on "writes" }}{{ end -}}
{{- if .Values.knative.enabled }}{{ $on = append $on "knative" }}{{ end -}}
{{- if .Values.leaderElection }}{{ $on = append $on "leader" }}{{ end -}}
{{- join " " $on -}}
{{- end -}}

{{/* "true" if all of `wanted` are among `on`. */}}
{{- define "ingressctl.covers" -}}
{{- $on := .on -}}
{{- $missing := "" -}}
{{- range .wanted }}{{ if not (has . $on) }}{{ $missing = . }}{{ end }}{{ end -}}
{{- if not $missing }}true{{ end -}}
{{- end -}}

{{/* Rules of `role` that the features `on` need, of the scopes `scopes`. */}}
{{- define "ingressctl.rules" -}}
{{- $given := . -}}
{{- range .role.blocks }}
{{- if and (has .namespaced $given.scopes) (include "ingressctl.covers" (dict "on" $given.on "wanted" .when)) }}
{{ toYaml .rules }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Which settings contradict each other. */}}
{{- define "ingressctl.check" -}}
{{- if and .Values.provider (not (has .Values.provider .Values.providers)) -}}
{{- fail (printf "provider %s is not among providers: add it there, so that it gets its rights" .Values.provider) -}}
{{- end -}}
{{- if and .Values.gateway.enabled (not (has "envoy" .Values.providers)) -}}
{{- fail "gateway.enabled needs envoy among providers: add it there, or leave the gateway out" -}}
{{- end -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.leaderElection) -}}
{{- fail "without leaderElection two replicas would write at once: set replicas to 1" -}}
{{- end -}}
{{- if and (eq .Values.beside "kserve") .Values.configuration.create -}}
{{- fail "beside kserve leaves inferenceservice-config to KServe: set configuration.create to false, or beside to \"\"" -}}
{{- end -}}
{{- if and (eq .Values.beside "kserve") (has "workloads" .Values.write) -}}
{{- fail "beside kserve leaves the workloads to KServe, write has workloads: set beside to \"\" or leave workloads out" -}}
{{- end -}}
{{- end -}}

{{/* What the restricted level of pod security asks of a pod, and of a container. */}}
{{- define "ingressctl.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "ingressctl.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Replicas on different nodes where that is possible, each generation for itself. */}}
{{- define "ingressctl.spread" -}}
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "ingressctl.selector" . | nindent 6 }}
  matchLabelKeys: [pod-template-hash]
{{- end -}}

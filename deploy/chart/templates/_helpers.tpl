{{- define "trueweave.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "trueweave.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "trueweave.labels" -}}
{{ include "trueweave.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "trueweave.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "trueweave.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "trueweave.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- /* Variables that all have: settings, the database, and what the user adds. */}}
{{- define "trueweave.env" -}}
- name: TRUEWEAVE_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.database.secret }}
      key: {{ .Values.database.urlKey }}
{{- with .Values.database.directUrlKey }}
- name: TRUEWEAVE_DIRECT_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ $.Values.database.secret }}
      key: {{ . }}
{{- end }}
{{- with .Values.database.standbyUrlsKey }}
- name: TRUEWEAVE_STANDBY_URLS
  valueFrom:
    secretKeyRef:
      name: {{ $.Values.database.secret }}
      key: {{ . }}
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: TRUEWEAVE_{{ $name | upper }}
  value: {{ if kindIs "string" $value }}{{ $value | quote }}{{ else }}{{ $value | toJson | quote }}{{ end }}
{{- end }}
- name: TRUEWEAVE_METRICS_HOST
  value: "0.0.0.0"
- name: TRUEWEAVE_METRICS_PORT
  value: {{ .Values.metrics.port | quote }}
{{- with .Values.env }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "trueweave.envFrom" -}}
{{- range .Values.secrets }}
- secretRef:
    name: {{ . }}
{{- end }}
{{- end }}

{{- define "trueweave.mounts" -}}
- name: tmp
  mountPath: /tmp
- name: models
  mountPath: /home/trueweave/.cache
{{- end }}

{{- define "trueweave.modelsVolume" -}}
- name: models
{{- if .Values.models.existingClaim }}
  persistentVolumeClaim:
    claimName: {{ .Values.models.existingClaim }}
{{- else }}
  emptyDir:
    sizeLimit: {{ .Values.models.size }}
{{- end }}
{{- end }}

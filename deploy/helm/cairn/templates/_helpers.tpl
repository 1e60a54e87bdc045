{{/* The name of all objects. It begins with kb-, because Kubernetes injects variables such
     as CAIRN_PORT for a service whose name begins with cairn. */}}
{{- define "cairn.fullname" -}}
{{- printf "kb-%s" (.Release.Name | trunc 36 | trimSuffix "-") }}
{{- end }}

{{- define "cairn.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "cairn.labels" -}}
{{ include "cairn.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "cairn.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "cairn.fullname" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- define "cairn.secret" -}}
{{- .Values.secrets.existingSecret | default (include "cairn.fullname" .) }}
{{- end }}

{{/* The image of images.<name>: (dict "root" $ "name" "api"). */}}
{{- define "cairn.image" -}}
{{- $image := index .root.Values.images .name }}
{{- if $image.digest }}{{ printf "%s@%s" $image.repository $image.digest }}{{ else }}{{ printf "%s:%s" $image.repository ($image.tag | default .root.Chart.AppVersion) }}{{ end }}
{{- end }}

{{/* The configuration file. */}}
{{- define "cairn.config" -}}
cairn.yaml: |
{{ toYaml .Values.config | indent 2 }}
{{- end }}

{{/* The values of the Secret. */}}
{{- define "cairn.secretData" -}}
{{- range $name, $value := .Values.secrets.values }}
{{ $name }}: {{ $value | toString | quote }}
{{- end }}
{{- end }}

{{/* What every pod has. */}}
{{- define "cairn.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.images.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "cairn.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{/* Environment and mounts of a container: (dict "root" $ "secret" "name of the Secret"). */}}
{{- define "cairn.environment" -}}
env:
  - {name: CAIRN_CONFIG, value: /etc/cairn/cairn.yaml}
{{- with .root.Values.extraEnv }}
{{ toYaml . | indent 2 }}
{{- end }}
envFrom:
  - secretRef: {name: {{ .secret }}}
volumeMounts:
  - {name: config, mountPath: /etc/cairn, readOnly: true}
  - {name: data, mountPath: /var/lib/cairn}
  - {name: tmp, mountPath: /tmp}
{{- end }}

{{/* Volumes of a pod: (dict "config" "name of the ConfigMap" "size" "of the data"). */}}
{{- define "cairn.volumes" -}}
volumes:
  - name: config
    configMap: {name: {{ .config }}}
  - name: data
    emptyDir: {sizeLimit: {{ .size }}}
  - name: tmp
    emptyDir: {sizeLimit: 1Gi}
{{- end }}

{{/* Probes of a process that serves /readyz and /healthz on the port http. A start waits a
     minute for the stores and for the migration. */}}
{{- define "cairn.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: http}
  periodSeconds: 2
  failureThreshold: 60
readinessProbe:
  httpGet: {path: /readyz, port: http}
  periodSeconds: 5
  timeoutSeconds: 4
  failureThreshold: 2
livenessProbe:
  httpGet: {path: /healthz, port: http}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end }}

{{- define "cairn.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ .labels | nindent 8 }}
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ .labels | nindent 8 }}
{{- end }}

{{/* Seconds that a pod has to end: what a stop waits, and time for the rest. */}}
{{- define "cairn.grace" -}}
{{- add (int (.Values.config.shutdown_seconds | default 10)) 25 }}
{{- end }}

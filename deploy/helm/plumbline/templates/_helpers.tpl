{{- /* A StatefulSet's pods have a label of its name and 11 letters, of at most 63. */ -}}
{{- define "plumbline.name" -}}
{{- .Release.Name | trunc 44 | trimSuffix "-" -}}
{{- end -}}

{{- define "plumbline.selector" -}}
app.kubernetes.io/name: plumbline
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{- define "plumbline.labels" -}}
app.kubernetes.io/name: plumbline
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "plumbline.isStatic" -}}
{{- if and .Values.monitor.staticMembership (eq .Values.monitor.kind "StatefulSet") }}true{{ end -}}
{{- end -}}

{{- /* plumbline.yaml: what the user wrote, and over it what only the chart can know. */ -}}
{{- define "plumbline.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $http := dict "bind" "0.0.0.0" "port" .Values.http.port -}}
{{- $config = mustMergeOverwrite $config (dict "http" $http "state" (dict "directory" "/var/lib/plumbline/state")) -}}
{{- if include "plumbline.isStatic" . -}}
{{- $member := dict "monitor.group.instance.id" "${env:POD_NAME}" "monitor.session.timeout.ms" (.Values.monitor.sessionTimeoutMs | int64 | toString) -}}
{{- $_ := set $config "kafka" (mustMerge (deepCopy $config.kafka) $member) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{- define "plumbline.probe" -}}
{{- if .root.Values.probes.tcp -}}
tcpSocket: {port: http}
{{- else -}}
httpGet: {path: {{ .path }}, port: http, scheme: {{ .root.Values.http.scheme }}}
{{- end -}}
{{- end -}}

{{- define "plumbline.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "plumbline.name" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{- /* The pod of a role: dict root, role, of (its values), persistent. */ -}}
{{- define "plumbline.pod" -}}
metadata:
  labels:
    {{- include "plumbline.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  annotations:
    checksum/config: {{ include "plumbline.config" .root | sha256sum }}
    {{- with .of.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "plumbline.serviceAccount" .root }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .root.Values.terminationGracePeriodSeconds }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  {{- with .root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .of.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .of.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .of.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .of.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- $own := dict "matchLabels" (include "plumbline.selector" . | fromYaml) }}
    {{- range .of.topologySpreadConstraints }}
    - {{- toYaml (merge (dict "labelSelector" $own) .) | nindent 6 }}
    {{- end }}
  {{- end }}
  {{- with .root.Values.extra.initContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .role }}
      {{- with .root.Values.image }}
      image: {{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.root.Chart.AppVersion }}{{ end }}
      imagePullPolicy: {{ .pullPolicy }}
      {{- end }}
      args: [run, --config, /etc/plumbline/plumbline.yaml, --role, {{ .role }}, --instances, {{ .of.replicas | quote }}]
      env:
        - name: POD_NAME
          valueFrom: {fieldRef: {fieldPath: metadata.name}}
        {{- if and .root.Values.kafkaUser.enabled (has .role .root.Values.kafkaUser.roles) }}
        - name: PLUMBLINE_KAFKA_JAAS
          valueFrom: {secretKeyRef: {name: {{ include "plumbline.name" .root }}-{{ .role }}, key: sasl.jaas.config}}
        {{- end }}
        {{- with .root.Values.logLevel }}
        - {name: PLUMBLINE_LOG, value: {{ . }}}
        {{- end }}
        {{- with .of.javaOptions }}
        - {name: JDK_JAVA_OPTIONS, value: {{ . | quote }}}
        {{- end }}
        {{- range .root.Values.secrets.env }}
        - name: {{ .name }}
          valueFrom: {secretKeyRef: {name: {{ .secret }}, key: {{ .key | quote }}}}
        {{- end }}
        {{- with .root.Values.extra.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        - {name: http, containerPort: {{ .root.Values.http.port }}}
      startupProbe:
        {{- include "plumbline.probe" (dict "root" .root "path" "/healthz") | nindent 8 }}
        periodSeconds: 5
        failureThreshold: {{ div .root.Values.probes.startupSeconds 5 }}
      livenessProbe:
        {{- include "plumbline.probe" (dict "root" .root "path" "/healthz") | nindent 8 }}
        periodSeconds: 15
        timeoutSeconds: 5
        failureThreshold: 4
      readinessProbe:
        {{- include "plumbline.probe" (dict "root" .root "path" "/readyz") | nindent 8 }}
        periodSeconds: 10
        timeoutSeconds: 5
      resources:
        {{- toYaml .of.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: config, mountPath: /etc/plumbline, readOnly: true}
        - {name: state, mountPath: /var/lib/plumbline}
        - {name: tmp, mountPath: /tmp}
        {{- if .root.Values.explainers.volume }}
        - {name: explainers, mountPath: {{ .root.Values.explainers.mountPath | quote }}, readOnly: true}
        {{- end }}
        {{- if .root.Values.secrets.files }}
        - {name: secrets, mountPath: /run/secrets/plumbline, readOnly: true}
        {{- end }}
        {{- with .root.Values.extra.volumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: config
      configMap: {name: {{ include "plumbline.name" .root }}}
    - name: tmp
      emptyDir: {}
    {{- if not .persistent }}
    - name: state
      emptyDir: {}
    {{- end }}
    {{- with .root.Values.explainers.volume }}
    - name: explainers
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with .root.Values.secrets.files }}
    - name: secrets
      secret: {secretName: {{ . }}, defaultMode: 0440}  # fsGroup may read it, not everyone
    {{- end }}
    {{- with .root.Values.extra.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{- /* One right: dict type, name, operations, and pattern where it is not literal. */ -}}
{{- define "plumbline.acl" }}
- resource: {type: {{ .type }}, name: {{ .name }}, patternType: {{ .pattern | default "literal" }}}
  operations: [{{ .operations }}]
{{- end -}}

{{- /* What `plumbline topics --acl` prints for a role; a test compares them. dict config, role. */ -}}
{{- define "plumbline.acls" -}}
{{- $names := dict "activations" "activations" "moments" "plumbline-moments" "window_reports" "window-reports" -}}
{{- $names = merge $names (dict "adaptation_requests" "adaptation-requests" "adaptation_reports" "adaptation-reports") -}}
{{- $names = merge $names (dict "decoders" "decoders" "dead_letters" "dead-letters" "configuration" "plumbline-configuration") -}}
{{- if .config.models }}{{ $names = set $names "model_windows" "plumbline-model-windows" }}{{ end -}}
{{- $topics := merge (deepCopy (.config.topics | default dict)) $names -}}
{{- $application := .config.application_id | default "plumbline" -}}
{{- $stores := dict "monitor" (list "activations-read" "decisions" "moments-read" "panes" "windows") -}}
{{- if .config.models }}{{ $stores = set $stores "monitor" (concat $stores.monitor (list "model-windows-read" "models") | sortAlpha) }}{{ end -}}
{{- $stores = merge $stores (dict "adapter" (list "adaptation-requests-read" "decoder-versions" "request-parts" "row-pools" "swaps")) -}}
{{- if eq .role "monitor" }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.activations "operations" "Read") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.moments "operations" "Read, Write") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.window_reports "operations" "Write") }}
{{- if .config.models }}{{ include "plumbline.acl" (dict "type" "topic" "name" $topics.model_windows "operations" "Read, Write") }}{{ end }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.adaptation_requests "operations" "Write") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.dead_letters "operations" "Write, DescribeConfigs") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.decoders "operations" "Read") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.configuration "operations" "Read, Write") }}
{{- else if eq .role "adapter" }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.adaptation_requests "operations" "Read") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.adaptation_reports "operations" "Write") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.decoders "operations" "Read, Write") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.configuration "operations" "Read") }}
{{- else if eq .role "subscriber" }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.decoders "operations" "Read") }}
{{- else if eq .role "operator" }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.adaptation_requests "operations" "Read, Write") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.adaptation_reports "operations" "Read") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.decoders "operations" "Read") }}
{{- include "plumbline.acl" (dict "type" "group" "name" (printf "%s-adapter" $application) "operations" "Describe") }}
{{- else if eq .role "producer" }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.activations "operations" "Write") }}
{{- else if eq .role "admin" }}
{{- range $topic := values $topics | sortAlpha }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topic "operations" "Create, Describe, DescribeConfigs") }}
{{- end }}
{{- range $role, $its := $stores }}
{{- range $its }}
{{- $changelog := printf "%s-%s-%s-changelog" $application $role . }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $changelog "operations" "Create, Describe, DescribeConfigs") }}
{{- end }}
{{- end }}
{{- end }}
{{- if hasKey $stores .role }}
{{- $group := printf "%s-%s" $application .role }}
{{- range get $stores .role }}
{{- include "plumbline.acl" (dict "type" "topic" "name" (printf "%s-%s-changelog" $group .) "operations" "Read, Write") }}
{{- end }}
{{- include "plumbline.acl" (dict "type" "group" "name" $group "operations" "Read") }}
{{- $kafka := .config.kafka }}
{{- $guarantee := get $kafka "processing.guarantee" }}
{{- if hasKey $kafka (printf "%s.processing.guarantee" .role) }}
{{- $guarantee = get $kafka (printf "%s.processing.guarantee" .role) }}
{{- end }}
{{- if ne $guarantee "at_least_once" }}
{{- include "plumbline.acl" (dict "type" "transactionalId" "name" (printf "%s-" $group) "pattern" "prefix" "operations" "Write") }}
{{- end }}
{{- if not (has (dig "http" "console" true .config | toString) (list "false" "off")) }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.window_reports "operations" "Read") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.adaptation_reports "operations" "Read") }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* One right: dict type, name, operations, and pattern where it is not literal. */ -}}
{{- define "plumbline.acl" }}
- resource: {type: {{ .type }}, name: {{ .name | quote }}, patternType: {{ .pattern | default "literal" }}}
  operations: [{{ .operations }}]
{{- end -}}

{{- /* The topics of activations as JSON, one a tenant where the name holds {tenant}. dict config. */ -}}
{{- define "plumbline.activations" -}}
{{- $name := dig "topics" "activations" "activations" .config -}}
{{- $sources := list (dict "tenant" "" "prefix" "" "suffix" "" "topic" $name) -}}
{{- if contains "{tenant}" $name -}}
{{- $tenants := list -}}
{{- range $site := .config.sites }}{{ $tenants = append $tenants $site.tenant }}{{ end -}}
{{- $sources = list -}}
{{- range $tenants | uniq | sortAlpha -}}
{{- $source := dict "tenant" . "prefix" (printf "%s-" .) "suffix" (printf "-%s" .) -}}
{{- $sources = append $sources (set $source "topic" (replace "{tenant}" . $name)) -}}
{{- end -}}
{{- end -}}
{{- toJson $sources -}}
{{- end -}}

{{- /* What `plumbline topics --acl` prints for a role; a test compares them. dict config, role, tenant of a producer. */ -}}
{{- define "plumbline.acls" -}}
{{- $names := dict "activations" "activations" "moments" "plumbline-moments" "window_reports" "window-reports" -}}
{{- $names = merge $names (dict "adaptation_requests" "adaptation-requests" "adaptation_reports" "adaptation-reports") -}}
{{- $names = merge $names (dict "decoders" "decoders" "dead_letters" "dead-letters" "configuration" "plumbline-configuration") -}}
{{- $names = set $names "baselines" "plumbline-baselines" -}}
{{- if .config.models }}{{ $names = set $names "model_windows" "plumbline-model-windows" }}{{ end -}}
{{- $topics := merge (deepCopy (.config.topics | default dict)) $names -}}
{{- $application := .config.application_id | default "plumbline" -}}
{{- $sources := include "plumbline.activations" . | fromJsonArray -}}
{{- $stores := dict "monitor" (list "decisions" "moments-read" "windows") -}}
{{- range $sources }}{{ $stores = set $stores "monitor" (concat $stores.monitor (list (printf "%sactivations-read" .prefix) (printf "%spanes" .prefix)) | sortAlpha) }}{{ end -}}
{{- if .config.models }}{{ $stores = set $stores "monitor" (concat $stores.monitor (list "model-windows-read" "models") | sortAlpha) }}{{ end -}}
{{- $stores = merge $stores (dict "adapter" (list "adaptation-requests-read" "decoder-versions" "request-parts" "row-pools" "swaps")) -}}
{{- if eq .role "monitor" }}
{{- range $sources }}{{ include "plumbline.acl" (dict "type" "topic" "name" .topic "operations" "Read") }}{{ end }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.moments "operations" "Read, Write") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.window_reports "operations" "Write") }}
{{- if .config.models }}{{ include "plumbline.acl" (dict "type" "topic" "name" $topics.model_windows "operations" "Read, Write") }}{{ end }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.adaptation_requests "operations" "Write") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.dead_letters "operations" "Write, DescribeConfigs") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.decoders "operations" "Read") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.configuration "operations" "Read, Write") }}
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.baselines "operations" "Read, Write") }}
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
{{- include "plumbline.acl" (dict "type" "topic" "name" $topics.baselines "operations" "Read, Write") }}
{{- include "plumbline.acl" (dict "type" "group" "name" (printf "%s-adapter" $application) "operations" "Describe") }}
{{- else if eq .role "producer" }}
{{- $tenant := .tenant }}
{{- range $sources }}{{ if eq .tenant $tenant }}{{ include "plumbline.acl" (dict "type" "topic" "name" .topic "operations" "Write") }}{{ end }}{{ end }}
{{- else if eq .role "admin" }}
{{- $all := values (omit $topics "activations") }}
{{- range $sources }}{{ $all = append $all .topic }}{{ end }}
{{- range $topic := $all | sortAlpha }}
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

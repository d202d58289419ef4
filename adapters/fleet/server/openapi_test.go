package server

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// described are the Go types whose JSON the document describes, by the name that
// each has there where it is not its own.
var described = map[string]reflect.Type{
	"Spec": reflect.TypeFor[job.Spec](), "Resources": reflect.TypeFor[job.Resources](), "GPUs": reflect.TypeFor[job.GPUs](),
	"Constraint": reflect.TypeFor[job.Constraint](), "Preference": reflect.TypeFor[job.Preference](),
	"Affinity": reflect.TypeFor[job.Affinity](), "Spread": reflect.TypeFor[job.Spread](),
	"Dependency": reflect.TypeFor[job.Dependency](), "Warning": reflect.TypeFor[job.Warning](), "Retry": reflect.TypeFor[job.Retry](),

	"SubmitRequest": reflect.TypeFor[api.SubmitRequest](), "SubmitResponse": reflect.TypeFor[api.SubmitResponse](),
	"Job": reflect.TypeFor[api.Job](), "JobDetail": reflect.TypeFor[api.JobDetail](), "JobList": reflect.TypeFor[api.JobList](),
	"Element": reflect.TypeFor[api.Element](), "Task": reflect.TypeFor[api.Task](), "Attempt": reflect.TypeFor[api.Attempt](),
	"Failure": reflect.TypeFor[api.Failure](),
	"Exit":    reflect.TypeFor[api.Exit](), "Usage": reflect.TypeFor[api.Usage](), "GPUShare": reflect.TypeFor[api.GPUShare](),
	"Selection": reflect.TypeFor[api.Selection](), "Affected": reflect.TypeFor[api.Affected](), "Page": reflect.TypeFor[api.Page](),
	"Explanation": reflect.TypeFor[api.Explanation](), "NodeVerdict": reflect.TypeFor[api.NodeVerdict](), "Verdict": reflect.TypeFor[api.Verdict](),

	"Node": reflect.TypeFor[api.Node](), "NodeList": reflect.TypeFor[api.NodeList](), "Used": reflect.TypeFor[api.Used](),
	"Drain": reflect.TypeFor[api.Drain](), "Maintenance": reflect.TypeFor[api.Maintenance](), "Labels": reflect.TypeFor[api.Labels](),
	"Machine": reflect.TypeFor[api.Machine](), "NUMANode": reflect.TypeFor[api.NUMANode](), "GPU": reflect.TypeFor[api.GPU](),
	"Isolation": reflect.TypeFor[api.Isolation](),
	"Load":      reflect.TypeFor[api.Load](), "LoadWindow": reflect.TypeFor[api.LoadWindow](), "LoadStats": reflect.TypeFor[api.LoadStats](),
	"TaskLoad": reflect.TypeFor[api.TaskLoad](),
	"Queue":    reflect.TypeFor[api.Queue](), "QueueStatus": reflect.TypeFor[api.QueueStatus](), "QueueList": reflect.TypeFor[api.QueueList](),

	"Amounts": reflect.TypeFor[api.Amounts](), "Policy": reflect.TypeFor[api.Policy](), "Reclaim": reflect.TypeFor[api.Reclaim](), "Each": reflect.TypeFor[api.Each](),
	"Account": reflect.TypeFor[api.Account](), "AccountList": reflect.TypeFor[api.AccountList](),
	"User": reflect.TypeFor[api.User](), "UserList": reflect.TypeFor[api.UserList](),
	"Limit": reflect.TypeFor[api.Limit](), "LimitList": reflect.TypeFor[api.LimitList](),
	"Share": reflect.TypeFor[api.Share](), "ShareList": reflect.TypeFor[api.ShareList](), "Turn": reflect.TypeFor[api.Turn](),
	"PastUse": reflect.TypeFor[api.PastUse](), "Level": reflect.TypeFor[api.Level](), "TurnList": reflect.TypeFor[api.TurnList](),
	"Timeline": reflect.TypeFor[api.Timeline](), "NodeTimeline": reflect.TypeFor[api.NodeTimeline](), "BusyUntil": reflect.TypeFor[api.BusyUntil](),
	"ReservedInterval": reflect.TypeFor[api.ReservedInterval](), "PromisedStart": reflect.TypeFor[api.PromisedStart](),
	"Forecast": reflect.TypeFor[api.Forecast](), "Calibration": reflect.TypeFor[api.Calibration](),
	"Repeat": reflect.TypeFor[api.Repeat](), "Reservation": reflect.TypeFor[api.Reservation](), "ReservationStatus": reflect.TypeFor[api.ReservationStatus](),
	"ReservationList": reflect.TypeFor[api.ReservationList](), "ReservationResponse": reflect.TypeFor[api.ReservationResponse](),

	"Event": reflect.TypeFor[api.Event](), "UsageRow": reflect.TypeFor[api.UsageRow](), "UsageList": reflect.TypeFor[api.UsageList](),
	"Record": reflect.TypeFor[api.Record](), "RecordList": reflect.TypeFor[api.RecordList](),
	"Self": reflect.TypeFor[api.Self](), "TokenInfo": reflect.TypeFor[api.TokenInfo](), "TokenList": reflect.TypeFor[api.TokenList](),
	"TokenRequest": reflect.TypeFor[api.TokenRequest](), "TokenResponse": reflect.TypeFor[api.TokenResponse](),
	"RevocationRequest": reflect.TypeFor[api.RevocationRequest](), "Revocation": reflect.TypeFor[api.Revocation](),
	"RevocationResponse": reflect.TypeFor[api.RevocationResponse](), "RevocationList": reflect.TypeFor[api.RevocationList](),
	"JoinTokenRequest": reflect.TypeFor[api.JoinTokenRequest](),
	"JoinRequest":      reflect.TypeFor[api.JoinRequest](), "JoinResponse": reflect.TypeFor[api.JoinResponse](),
	"ServerStatus": reflect.TypeFor[api.ServerStatus](), "Member": reflect.TypeFor[api.Member](),
	"MemberState": reflect.TypeFor[api.MemberState](), "MemberList": reflect.TypeFor[api.MemberList](), "MemberRequest": reflect.TypeFor[api.MemberRequest](),

	"Registration": reflect.TypeFor[api.Registration](), "Registered": reflect.TypeFor[api.Registered](),
	"PollRequest": reflect.TypeFor[api.PollRequest](), "PollResponse": reflect.TypeFor[api.PollResponse](),
	"Order": reflect.TypeFor[api.Order](), "Stop": reflect.TypeFor[api.Stop](), "Run": reflect.TypeFor[api.Run](),
	"ReportRequest": reflect.TypeFor[api.ReportRequest](), "Report": reflect.TypeFor[api.Report](),
	"ReportResponse": reflect.TypeFor[api.ReportResponse](),
	"Error":          reflect.TypeFor[api.Error](), "Problem": reflect.TypeFor[api.Problem](),

	"MilliCPU": reflect.TypeFor[job.MilliCPU](), "Bytes": reflect.TypeFor[job.Bytes](), "Duration": reflect.TypeFor[job.Duration](),
	"JobID": reflect.TypeFor[job.ID](), "TaskID": reflect.TypeFor[job.TaskID](), "Array": reflect.TypeFor[job.Array](),
	"State": reflect.TypeFor[job.State](), "Reason": reflect.TypeFor[job.Reason](), "Operator": reflect.TypeFor[job.Operator](),
	"OpenMode":       reflect.TypeFor[job.OpenMode](),
	"DependencyKind": reflect.TypeFor[job.DependencyKind](), "NodeState": reflect.TypeFor[api.NodeState](),
	"EventKind": reflect.TypeFor[api.EventKind](), "ErrorCode": reflect.TypeFor[api.ErrorCode](), "Role": reflect.TypeFor[api.Role](),
}

// outside are what the server answers besides the table of routes.
var outside = []string{
	"POST /v1/join", "GET /v1/openapi.yaml", "GET /metrics", "GET /healthz", "GET /readyz",
}

type object = map[string]any

// document parses the document. Strict: no key is there twice.
func document(t *testing.T) object {
	t.Helper()
	var doc object
	require.NoError(t, yaml.UnmarshalStrict(openAPIText, &doc))
	return doc
}

// at is what the document has at a path of keys.
func at(t *testing.T, v any, keys ...string) object {
	t.Helper()
	for i, key := range keys {
		m, ok := v.(object)
		require.True(t, ok && m[key] != nil, "there is nothing at %v", keys[:i+1])
		v = m[key]
	}
	return v.(object)
}

// operations are the methods and paths of the document, each with what it has there.
func operations(t *testing.T, doc object) map[string]object {
	t.Helper()
	out := map[string]object{}
	for path, item := range at(t, doc, "paths") {
		for method, operation := range item.(object) {
			if method != "parameters" {
				out[strings.ToUpper(method)+" "+path] = operation.(object)
			}
		}
	}
	return out
}

func TestOpenAPIIsServed(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	openAPI(w, httptest.NewRequest(http.MethodGet, "/v1/openapi.yaml", nil))
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "application/yaml", w.Header().Get("Content-Type"))
	require.Equal(t, openAPIText, w.Body.Bytes())
	require.Equal(t, "3.1.0", document(t)["openapi"])
}

func TestOpenAPIHasTheRoutes(t *testing.T) {
	t.Parallel()
	want := slices.Clone(outside)
	for _, rt := range (&Server{}).routes() {
		want = append(want, rt.pattern)
	}
	require.ElementsMatch(t, want, slices.Collect(maps.Keys(operations(t, document(t)))))
}

func TestOpenAPINamesTheRoles(t *testing.T) {
	t.Parallel()
	ops := operations(t, document(t))
	for _, rt := range (&Server{}).routes() {
		var roles []string
		for _, role := range rt.roles {
			roles = append(roles, string(role))
		}
		description, _ := ops[rt.pattern]["description"].(string)
		require.Regexp(t, `(^|\. )For: `+strings.Join(roles, ", ")+`\.$`, description, rt.pattern)
	}
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// Each operation has a name of its own, the parameters of its path and no others
// there, an answer for success, and, below /v1, the errors.
func TestOpenAPIOperationsAreWhole(t *testing.T) {
	t.Parallel()
	doc := document(t)
	var names []string
	for pattern, op := range operations(t, doc) {
		names = append(names, op["operationId"].(string))
		method, path, _ := strings.Cut(pattern, " ")
		item := at(t, doc, "paths", path)
		var want, have []string
		for _, m := range pathParameter.FindAllStringSubmatch(path, -1) {
			want = append(want, m[1])
		}
		of, _ := op["parameters"].([]any)
		all, _ := item["parameters"].([]any)
		for _, p := range slices.Concat(all, of) {
			if p := resolve(t, doc, p.(object)); p["in"] == "path" {
				have = append(have, p["name"].(string))
				require.Equal(t, true, p["required"], pattern)
			}
		}
		require.ElementsMatch(t, want, have, pattern)
		answers := at(t, op, "responses")
		require.True(t, answers["200"] != nil || answers["204"] != nil, pattern)
		if strings.HasPrefix(path, "/v1/") && path != "/v1/openapi.yaml" {
			require.Equal(t, object{"$ref": "#/components/responses/Error"}, answers["default"], pattern)
		}
		if method == http.MethodGet || method == http.MethodDelete {
			require.NotContains(t, op, "requestBody", pattern)
		}
	}
	slices.Sort(names)
	require.Equal(t, len(names), len(slices.Compact(names)), "an operationId is there twice")
}

// resolve follows a $ref.
func resolve(t *testing.T, doc, v object) object {
	t.Helper()
	ref, ok := v["$ref"].(string)
	if !ok {
		return v
	}
	path, ok := strings.CutPrefix(ref, "#/")
	require.True(t, ok, ref)
	return at(t, doc, strings.Split(path, "/")...)
}

// Every reference leads somewhere, and everything that could be referred to is.
func TestOpenAPIReferences(t *testing.T) {
	t.Parallel()
	doc := document(t)
	used := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case object:
			if ref, ok := v["$ref"].(string); ok {
				resolve(t, doc, v)
				used[ref] = true
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(doc)
	for _, kind := range []string{"schemas", "parameters", "requestBodies", "responses"} {
		for name := range at(t, doc, "components", kind) {
			require.True(t, used["#/components/"+kind+"/"+name], "nothing refers to %s %s", kind, name)
		}
	}
	for _, op := range operations(t, doc) {
		needs, _ := op["security"].([]any)
		for _, s := range slices.Concat(needs, doc["security"].([]any)) {
			for name := range s.(object) {
				at(t, doc, "components", "securitySchemes", name)
			}
		}
	}
}

// A schema is that of its Go type, field by field: names, types, and which are
// always there.
func TestOpenAPISchemasAreThoseOfTheTypes(t *testing.T) {
	t.Parallel()
	schemas := at(t, document(t), "components", "schemas")
	require.ElementsMatch(t, slices.Collect(maps.Keys(described)), slices.Collect(maps.Keys(schemas)))
	for name, typ := range described {
		t.Run(name, func(t *testing.T) {
			have := maps.Clone(schemas[name].(object))
			require.NotEmpty(t, have["description"])
			if typ.Kind() != reflect.Struct || marshals(typ) {
				require.Contains(t, kinds(have), jsonKind(t, typ))
				return
			}
			delete(have, "description")
			properties, _ := have["properties"].(object)
			for _, p := range properties {
				delete(p.(object), "description")
			}
			require.Equal(t, schemaOf(typ), have)
		})
	}
}

// marshals reports whether the type has its own way to be written.
func marshals(typ reflect.Type) bool {
	_, own := reflect.Zero(typ).Interface().(json.Marshaler)
	_, text := reflect.Zero(typ).Interface().(interface{ MarshalText() ([]byte, error) })
	return own || text
}

// kinds are the JSON types that a schema allows.
func kinds(schema object) []any {
	if several, ok := schema["type"].([]any); ok {
		return several
	}
	return []any{schema["type"]}
}

// jsonKind is what a value of the type is in JSON.
func jsonKind(t *testing.T, typ reflect.Type) string {
	t.Helper()
	text, err := json.Marshal(reflect.Zero(typ).Interface())
	require.NoError(t, err)
	if text[0] == '"' {
		return "string"
	}
	return "integer"
}

// schemaOf is the schema of a struct, without its descriptions.
func schemaOf(typ reflect.Type) object {
	out := object{"type": "object"}
	var required, embedded []any
	properties := object{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Anonymous {
			embedded = append(embedded, fieldSchema(f.Type))
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		properties[name] = fieldSchema(f.Type)
		if options == "" {
			required = append(required, name)
		}
	}
	if len(properties) > 0 {
		out["properties"] = properties
	}
	if required != nil {
		out["required"] = required
	}
	if embedded != nil {
		out["allOf"] = embedded
	}
	return out
}

// fieldSchema is the schema of a field.
func fieldSchema(typ reflect.Type) object {
	for name, known := range described {
		if known == typ {
			return object{"$ref": "#/components/schemas/" + name}
		}
	}
	if typ == reflect.TypeFor[time.Time]() {
		return object{"type": "string", "format": "date-time"}
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return fieldSchema(typ.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": fieldSchema(typ.Elem())}
	case reflect.Map:
		out := object{"type": "object", "additionalProperties": fieldSchema(typ.Elem())}
		if key := fieldSchema(typ.Key()); key["$ref"] != nil {
			out["propertyNames"] = key
		}
		return out
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int32:
		return object{"type": "integer", "format": "int32"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return object{"type": "integer", "format": "int64"}
	}
	panic(fmt.Sprintf("the document says nothing of fields of type %s", typ))
}

// The values of an enum are the constants of its Go type.
func TestOpenAPIEnumsAreTheConstants(t *testing.T) {
	t.Parallel()
	schemas := at(t, document(t), "components", "schemas")
	constants := constantsOf(t, "../api", "../job")
	for name, typ := range described {
		if typ.Kind() != reflect.String {
			continue
		}
		var have []string
		for _, v := range schemas[name].(object)["enum"].([]any) {
			have = append(have, v.(string))
		}
		require.NotEmpty(t, have, name)
		require.ElementsMatch(t, constants[typ.Name()], have, name)
	}
}

// constantsOf are the constants of the packages in the folders that are strings and
// not empty, by the name of their type.
func constantsOf(t *testing.T, folders ...string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, folder)
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				if v, ok := n.(*ast.ValueSpec); ok && !strings.HasSuffix(name, "_test.go") {
					addConstants(t, out, v)
				}
				return true
			})
		}
	}
	return out
}

// addConstants adds those of one line.
func addConstants(t *testing.T, to map[string][]string, v *ast.ValueSpec) {
	t.Helper()
	typ, named := v.Type.(*ast.Ident)
	for _, value := range v.Values {
		lit, ok := value.(*ast.BasicLit)
		if !ok || !named || lit.Kind != token.STRING {
			continue
		}
		text, err := strconv.Unquote(lit.Value)
		require.NoError(t, err)
		if text != "" {
			to[typ.Name] = append(to[typ.Name], text)
		}
	}
}

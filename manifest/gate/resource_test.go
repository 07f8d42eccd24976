package gate

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// If the manifest names a field, selected resources are its values. Other records are rejected whatever their
// keys are, and the field is always sent.
func TestResourcesAreValuesOfTheDeclaredField(t *testing.T) {
	m, err := manifest.Parse(
		[]byte(`{"protocol_version":"0.1.0","connector_id":"harbour","version":"1","display_name":"Harbour","streams":[
	 {"name":"calls","semantics":"mutable_state","primary_key":["id"],"selection":{"resources":true,` +
			`"resource_field":"pier"},
	  "schema":{"type":"object","properties":{"id":{"type":"string"},"pier":{"type":["string","integer","null"]},` +
			`"ship":{"type":"string"}}}}]}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	gates, err := Resolve(
		m,
		[]protocol.StreamScope{{Name: "calls", Resources: []string{"north", "7"}, Fields: []string{"ship"}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(gates[0].Scope.Fields, " "); got != "id pier ship" {
		t.Errorf("the connector is asked for %s", got)
	}
	for data, passes := range map[string]bool{
		`{"id":"a","pier":"north"}`: true, `{"id":"a","pier":7}`: true, `{"id":"a","pier":"south"}`: false,
		`{"id":"north"}`: false, `{"id":"north","pier":null}`: false,
	} {
		line := `{"type":"RECORD","stream":"calls","key":"` +
			map[bool]string{true: "north", false: "a"}[strings.Contains(data, `"id":"north"`)] +
			`","data":` + data + `,"emitted_at":"2026-01-01T00:00:00Z"}`
		message, err := protocol.NewDecoder(protocol.FromConnector).Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		_, v := gates[0].Record(message.(*protocol.Record))
		if (v == nil) != passes || v != nil && v.Subtype != protocol.ResourceOutOfScope {
			t.Errorf("%s: %+v", data, v)
		}
	}
	if _, v := gates[0].Record(&protocol.Record{Stream: "calls", Key: "a", Op: protocol.OpDelete}); v != nil {
		t.Errorf("a deletion, which has no pier, is refused: %+v", v)
	}
}

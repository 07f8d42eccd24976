package manifest_test

import (
	"errors"
	"fmt"

	"github.com/pdpp-go/pdpp/manifest"
)

// The error for an invalid manifest lists all of its problems.
func ExampleParse() {
	_, err := manifest.Parse([]byte(`{
		"protocol_version": "0.1.0",
		"connector_id": "https://registry.example/connectors/fernpost",
		"version": "1.0.0",
		"streams": [{
			"name": "letters",
			"semantics": "mutable_state",
			"schema": {"type": "object", "properties": {"id": {"type": "string"}}},
			"primary_key": "id",
			"cursor_field": "updated_at",
			"coverage_policy": "unsupported"
		}]
	}`))
	var problems manifest.Problems
	if errors.As(err, &problems) {
		for _, p := range problems {
			fmt.Printf("%s\n  %s\n  %s\n", p.Path, p.What, p.Fix)
		}
	}
	// Output:
	// display_name
	//   is missing
	//   add it
	// streams[0].required
	//   is not false although coverage_policy is unsupported
	//   add "required": false, or choose another coverage_policy
	// streams[0].cursor_field
	//   "updated_at" is not in schema.properties
	//   name a property of the schema or add it there
}

package manifest_test

import (
	"fmt"

	"github.com/pdpp-go/pdpp/manifest"
)

const letters = `{
	"protocol_version": "0.1.0", "connector_id": "https://example.com/connectors/letters", "version": "1.0.0",
	"display_name": "Letters",
	"runtime_requirements": {
		"bindings": {"network": {"required": true}},
		"environment_variables": [
			{"name": "LETTERS_TOKEN", "required": true, "secret": true}, {"name": "LETTERS_FOLDER"}
		]
	},
	"streams": [{
		"name": "letters", "semantics": "mutable_state", "primary_key": ["id"],
		"schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
	}]
}`

// A manifest names the variables that a connector gets, and which of them are secret.
func ExampleManifest_SecretEnv() {
	m, err := manifest.Parse([]byte(letters))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Key(), m.EnvNames(), m.SecretEnv(), m.CredentialEnv())
	// Output: letters [LETTERS_FOLDER LETTERS_TOKEN] [LETTERS_TOKEN] [LETTERS_TOKEN]
}

// Records are validated against the compiled schema of their stream.
func ExampleManifest_CompileSchemas() {
	m, err := manifest.Parse([]byte(letters))
	if err != nil {
		fmt.Println(err)
		return
	}
	schemas, err := m.CompileSchemas()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(schemas["letters"].Validate(map[string]any{"id": "7"}))
	fmt.Println(manifest.SchemaPath(schemas["letters"].Validate(map[string]any{"id": 7})))
	// Output:
	// <nil>
	// /properties/id/type
}

// Inspect reports keys that it does not know as warnings.
func ExampleInspect() {
	_, warnings, err := manifest.Inspect([]byte(`{"colour": "green", ` + letters[1:]))
	fmt.Println(warnings[0].Path, warnings[0].What, err)
	// Output: colour is not a known key <nil>
}

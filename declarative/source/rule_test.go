package source

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// ruled is a source with settings that change before a run, and with a setting that they make of a secret.
const ruled = `
version: 1.0.0
type: DeclarativeSource
check: {type: CheckStream, stream_names: [a]}
streams:
  - type: DeclarativeStream
    name: a
    retriever:
      type: SimpleRetriever
      requester:
        type: HttpRequester
        url_base: https://api.example.com
        authenticator: {type: BearerAuthenticator, api_token: "{{ config['credentials']['token'] }}"}
      record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}
    transformations:
      - type: AddFields
        fields: [{type: AddedFieldDefinition, path: [key], value: "{{ config['credentials']['token'] }}"}]
spec:
  type: Spec
  connection_specification:
    type: object
    properties:
      api_key: {type: string, airbyte_secret: true}
      lists: {type: string}
      region: {type: string}
  config_normalization_rules:
    type: ConfigNormalizationRules
    config_migrations:
      - type: ConfigMigration
        transformations:
          - type: ConfigAddFields
            condition: "{{ config.get('api_key') }}"
            fields: [{type: AddedFieldDefinition, path: [credentials, token], value: "{{ config['api_key'] }}"}]
          - {type: ConfigRemoveFields, field_pointers: [[api_key]]}
    transformations:
      - type: ConfigAddFields
        fields: [{type: AddedFieldDefinition, path: [all], value: "{{ config['lists'].split(' ') }}"}]
      - {type: ConfigRemapField, field_path: [region], map: {europe: eu}}
`

func TestRulesOfSettings(t *testing.T) {
	doc, err := document.Parse([]byte(ruled))
	if err != nil {
		t.Fatal(err)
	}
	got, err := applyRules(doc.Spec.Rules, []byte(`{"api_key":"k1","lists":"a b","region":"europe"}`),
		func() *expression.Context { return &expression.Context{} })
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"lists":"a b","region":"eu","credentials":{"token":"k1"},"all":["a","b"]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	d, err := describe.Describe(doc, describe.Options{Key: "ruled"})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Disabled) != 1 ||
		d.Disabled[0].Reason != "puts the secret setting credentials.token into a record" {
		t.Errorf("disabled: %+v", d.Disabled)
	}
	if len(d.Settings) != 3 {
		t.Errorf("the form asks for %+v", d.Settings)
	}
}

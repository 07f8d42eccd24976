package manifest

import "encoding/json"

// Setup is how an owner sets up a connection.
type Setup struct {
	Modality          Modality           `json:"modality" rule:"required" doc:"The way in: a secret, a file, a signed-in browser, the provider's consent page, or nothing."`
	CredentialCapture *CredentialCapture `json:"credential_capture,omitempty" doc:"The form that asks for a credential."`
	DeploymentConfig  []string           `json:"deployment_config,omitempty" rule:"unique,pattern=env" doc:"Variables that the operator supplies once for all connections."`
	ManualOrUpload    json.RawMessage    `json:"manual_or_upload,omitempty" rule:"object" doc:"Presentation of a file import, passed through untouched."`
}

// CredentialCapture is the form that asks the owner for a credential.
type CredentialCapture struct {
	Kind        CredentialKind    `json:"kind" rule:"required" doc:"Kind of credential that is stored."`
	Label       string            `json:"label,omitempty" doc:"Title of the form."`
	Description string            `json:"description,omitempty" doc:"What the owner needs to know before filling it in."`
	SubmitLabel string            `json:"submit_label,omitempty" doc:"Text of the button."`
	Fields      []CredentialField `json:"fields" rule:"required,min=1" doc:"Inputs of the form."`
}

// CredentialField is one input of the form.
type CredentialField struct {
	Name         string    `json:"name" rule:"required" doc:"Name, unique within the form."`
	Label        string    `json:"label" rule:"required" doc:"Text beside the input."`
	Type         FieldType `json:"type,omitempty" doc:"Kind of input. Absent: password for a secret, else text."`
	Required     bool      `json:"required,omitempty" doc:"Whether the form is incomplete without it. Absent: false."`
	Secret       bool      `json:"secret,omitempty" doc:"Whether the value is sealed at rest and redacted everywhere. Absent: false."`
	Autocomplete string    `json:"autocomplete,omitempty" doc:"Autocomplete hint for the browser."`
	Placeholder  string    `json:"placeholder,omitempty" doc:"Example shown in the empty input."`
	HelpText     string    `json:"help_text,omitempty" doc:"Where the owner finds the value."`
	HelpURL      string    `json:"help_url,omitempty" rule:"pattern=web" doc:"Page where the owner finds the value."`
	Env          []string  `json:"env" rule:"required,min=1,unique,pattern=env" doc:"Variables through which the connector receives the value; each one gets it."`
}

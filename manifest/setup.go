package manifest

// Setup declares how an owner sets up a connection.
type Setup struct {
	Modality          Modality           `json:"modality" rule:"required" doc:"The way in: a secret, a file, a signed-in browser, the provider's consent page, or nothing."`
	Steps             []string           `json:"steps,omitempty" doc:"What the owner does to connect it, where to click, step by step. Absent: the form, the files or the app say it."`
	FirstRun          string             `json:"first_run,omitempty" doc:"How long a first run takes, in a few words."`
	OutOfReach        []string           `json:"out_of_reach,omitempty" doc:"What is not included or not collected, each in a few words."`
	CredentialCapture *CredentialCapture `json:"credential_capture,omitempty" doc:"The form that asks for a credential."`
	DeploymentConfig  []string           `json:"deployment_config,omitempty" rule:"unique,pattern=env" doc:"Variables that the operator supplies once for all connections."`
	ManualOrUpload    *FileImport        `json:"manual_or_upload,omitempty" doc:"The files that the owner provides."`
	OAuth             *OAuth             `json:"oauth,omitempty" doc:"How the owner signs in at the provider, where the modality is provider_auth."`
}

// CredentialCapture is the form that asks the owner for a credential.
type CredentialCapture struct {
	Kind        CredentialKind    `json:"kind" rule:"required" doc:"Kind of credential that is stored."`
	Label       string            `json:"label,omitempty" doc:"Title of the form."`
	Description string            `json:"description,omitempty" doc:"What the owner needs to know before filling it in."`
	SubmitLabel string            `json:"submit_label,omitempty" doc:"Text of the button."`
	Required    *bool             `json:"required,omitempty" doc:"Whether there is no connection without it. Absent: true. When false the form may be left empty."`
	Fields      []CredentialField `json:"fields" rule:"required,min=1" doc:"Inputs of the form."`
}

// CredentialField is one input of the form.
type CredentialField struct {
	Name         string    `json:"name" rule:"required" doc:"Name, unique within the form."`
	Label        string    `json:"label" rule:"required" doc:"Text beside the input."`
	Type         FieldType `json:"type,omitempty" doc:"Kind of input. Absent: password for a secret, else text."`
	Required     bool      `json:"required,omitempty" doc:"Whether the form is incomplete without it. Absent: false."`
	Secret       bool      `json:"secret,omitempty" doc:"Whether the value is sealed at rest and redacted everywhere. Absent: false."`
	Identity     bool      `json:"identity,omitempty" doc:"Whether the value identifies the account. Absent: false."`
	Autocomplete string    `json:"autocomplete,omitempty" doc:"Autocomplete hint for the browser."`
	Placeholder  string    `json:"placeholder,omitempty" doc:"Example shown in the empty input."`
	HelpText     string    `json:"help_text,omitempty" doc:"Where the owner finds the value."`
	HelpURL      string    `json:"help_url,omitempty" rule:"pattern=web" doc:"Page where the owner finds the value."`
	Env          []string  `json:"env" rule:"required,min=1,unique,pattern=env" doc:"Variables through which the connector receives the value; each one gets it."`
}

// IsRequired reports whether a connection needs the credential. It does, unless the manifest declares otherwise.
func (c *CredentialCapture) IsRequired() bool { return c.Required == nil || *c.Required }

// FileImport declares how an owner provides files.
type FileImport struct {
	Label                  string              `json:"label,omitempty" doc:"What the owner provides, in a few words."`
	Description            string              `json:"description,omitempty" doc:"How the owner gets the files."`
	HelpText               string              `json:"help_text,omitempty" doc:"Why files are needed."`
	HelpURL                string              `json:"help_url,omitempty" rule:"pattern=web" doc:"Page that explains the export."`
	ImportDirEnvVar        string              `json:"import_dir_env_var,omitempty" rule:"pattern=env" doc:"Variable through which the connector receives the folder of the files."`
	AcceptedFileExtensions []string            `json:"accepted_file_extensions,omitempty" rule:"unique" doc:"Endings of the files that count."`
	AcceptedFileNames      []string            `json:"accepted_file_names,omitempty" rule:"unique" doc:"Names of the files that count."`
	AcquisitionMethods     []AcquisitionMethod `json:"acquisition_methods,omitempty" doc:"Ways to get the files."`
	LargeFileFallback      string              `json:"large_file_fallback,omitempty" doc:"What to do with a file that is too large."`
	Validation             *FileValidation     `json:"validation,omitempty" doc:"How a file is judged."`
	ValidationExpectations []string            `json:"validation_expectations,omitempty" doc:"What the owner learns about a file."`
}

// AcquisitionMethod is a way to get the files of an import.
type AcquisitionMethod struct {
	Label    string `json:"label,omitempty" doc:"Name of the way."`
	Detail   string `json:"detail,omitempty" doc:"Its steps."`
	HelpURL  string `json:"help_url,omitempty" rule:"pattern=web" doc:"Page that explains it."`
	Platform string `json:"platform,omitempty" doc:"Where it is done, such as android or web."`
	Posture  string `json:"posture,omitempty" doc:"Such as primary or advanced."`
}

// FileValidation declares how a provided file is validated.
type FileValidation struct {
	Kind         string `json:"kind,omitempty" doc:"Name of the judgement."`
	FileBacked   bool   `json:"file_backed,omitempty" doc:"Whether files are kept. Absent: false."`
	MaxFileBytes int    `json:"max_file_bytes,omitempty" rule:"min=1" doc:"Largest file."`
}

package manifest

import "slices"

// enumType is a closed set of values. Its exported list is the only enumeration: validation, JSONSchema and the tests
// use it.
type enumType interface {
	Valid() bool
	values() []string
}

// aliasedEnum is an enum with alternative names for some values. Parse replaces them.
type aliasedEnum interface {
	enumType
	aliases() map[string]string
}

func stringsOf[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

// ProtocolVersion is the version of the protocol that a connector implements.
type ProtocolVersion string

// ProtocolVersion010 is the version that this runtime supports.
const ProtocolVersion010 ProtocolVersion = "0.1.0"

// ProtocolVersions lists every ProtocolVersion.
var ProtocolVersions = []ProtocolVersion{ProtocolVersion010}

// Valid reports whether v is in ProtocolVersions.
func (v ProtocolVersion) Valid() bool      { return slices.Contains(ProtocolVersions, v) }
func (v ProtocolVersion) values() []string { return stringsOf(ProtocolVersions) }

// Runtime is the interpreter of a connector's executable.
type Runtime string

// Values of Runtime. A binary needs no interpreter.
const (
	RuntimeNode   Runtime = "node"
	RuntimeDeno   Runtime = "deno"
	RuntimePython Runtime = "python"
	RuntimeBinary Runtime = "binary"
)

// Runtimes lists every Runtime.
var Runtimes = []Runtime{RuntimeNode, RuntimeDeno, RuntimePython, RuntimeBinary}

// Valid reports whether r is in Runtimes.
func (r Runtime) Valid() bool      { return slices.Contains(Runtimes, r) }
func (r Runtime) values() []string { return stringsOf(Runtimes) }

// Binding is a facility that the runtime provides to a connector.
type Binding string

// Values of Binding. Only the local collector provides local_device.
const (
	BindingBrowser     Binding = "browser"
	BindingFilesystem  Binding = "filesystem"
	BindingInteractive Binding = "interactive"
	BindingNetwork     Binding = "network"
	BindingLocalDevice Binding = "local_device"
)

// Bindings lists every Binding.
var Bindings = []Binding{BindingBrowser, BindingFilesystem, BindingInteractive, BindingNetwork, BindingLocalDevice}

// Valid reports whether b is in Bindings.
func (b Binding) Valid() bool      { return slices.Contains(Bindings, b) }
func (b Binding) values() []string { return stringsOf(Bindings) }

// HumanInteraction is a kind of help that a run may request from the owner.
type HumanInteraction string

// The kinds of human interaction.
const (
	InteractionCredentials  HumanInteraction = "credentials"
	InteractionOTP          HumanInteraction = "otp"
	InteractionManualAction HumanInteraction = "manual_action"
)

// HumanInteractions lists every HumanInteraction.
var HumanInteractions = []HumanInteraction{InteractionCredentials, InteractionOTP, InteractionManualAction}

// Valid reports whether h is in HumanInteractions.
func (h HumanInteraction) Valid() bool      { return slices.Contains(HumanInteractions, h) }
func (h HumanInteraction) values() []string { return stringsOf(HumanInteractions) }

// RefreshMode is what starts a refresh.
type RefreshMode string

// Values of RefreshMode: the schedule, the owner, or nothing for now.
const (
	RefreshAutomatic RefreshMode = "automatic"
	RefreshManual    RefreshMode = "manual"
	RefreshPaused    RefreshMode = "paused"
)

// RefreshModes lists every RefreshMode.
var RefreshModes = []RefreshMode{RefreshAutomatic, RefreshManual, RefreshPaused}

// Valid reports whether m is in RefreshModes.
func (m RefreshMode) Valid() bool      { return slices.Contains(RefreshModes, m) }
func (m RefreshMode) values() []string { return stringsOf(RefreshModes) }

// InteractionPosture is how much a typical refresh requires from the owner.
type InteractionPosture string

// Values of InteractionPosture, from none to the most effort.
const (
	PostureNone               InteractionPosture = "none"
	PostureCredentials        InteractionPosture = "credentials"
	PostureOTPLikely          InteractionPosture = "otp_likely"
	PostureManualActionLikely InteractionPosture = "manual_action_likely"
)

// InteractionPostures lists every InteractionPosture.
var InteractionPostures = []InteractionPosture{
	PostureNone,
	PostureCredentials,
	PostureOTPLikely,
	PostureManualActionLikely,
}

// Valid reports whether p is in InteractionPostures.
func (p InteractionPosture) Valid() bool      { return slices.Contains(InteractionPostures, p) }
func (p InteractionPosture) values() []string { return stringsOf(InteractionPostures) }

// Sensitivity is how strongly a provider reacts to requests.
type Sensitivity string

// The sensitivities.
const (
	SensitivityLow    Sensitivity = "low"
	SensitivityMedium Sensitivity = "medium"
	SensitivityHigh   Sensitivity = "high"
)

// Sensitivities lists every Sensitivity.
var Sensitivities = []Sensitivity{SensitivityLow, SensitivityMedium, SensitivityHigh}

// Valid reports whether s is in Sensitivities.
func (s Sensitivity) Valid() bool      { return slices.Contains(Sensitivities, s) }
func (s Sensitivity) values() []string { return stringsOf(Sensitivities) }

// Modality is how a connection is set up.
type Modality string

// The setup modalities.
const (
	ModalityStaticSecret   Modality = "static_secret"
	ModalityManualOrUpload Modality = "manual_or_upload"
	ModalityBrowserSession Modality = "browser_session"
	ModalityProviderAuth   Modality = "provider_auth"
	ModalityLocalFiles     Modality = "local_files"
	ModalityNone           Modality = "none"
)

// Modalities lists every Modality.
var Modalities = []Modality{ModalityStaticSecret, ModalityManualOrUpload, ModalityBrowserSession,
	ModalityProviderAuth, ModalityLocalFiles, ModalityNone}

// Valid reports whether m is in Modalities.
func (m Modality) Valid() bool      { return slices.Contains(Modalities, m) }
func (m Modality) values() []string { return stringsOf(Modalities) }

func (Modality) aliases() map[string]string {
	return map[string]string{"provider_authorization": string(ModalityProviderAuth)}
}

// ClientAuth is how an app sends its secret to the provider.
type ClientAuth string

// Values of ClientAuth.
const (
	ClientAuthHeader ClientAuth = "header" // HTTP Basic
	ClientAuthBody   ClientAuth = "body"   // client_secret in the form
)

// ClientAuths lists every ClientAuth.
var ClientAuths = []ClientAuth{ClientAuthHeader, ClientAuthBody}

// Valid reports whether a is in ClientAuths.
func (a ClientAuth) Valid() bool      { return slices.Contains(ClientAuths, a) }
func (a ClientAuth) values() []string { return stringsOf(ClientAuths) }

// CredentialKind is the kind of secret that the owner enters.
type CredentialKind string

// The credential kinds.
const (
	CredentialAccessToken         CredentialKind = "access_token"
	CredentialAPIKey              CredentialKind = "api_key"
	CredentialAppPassword         CredentialKind = "app_password"
	CredentialPersonalAccessToken CredentialKind = "personal_access_token"
	CredentialSecretBundle        CredentialKind = "secret_bundle"
	CredentialUsernamePassword    CredentialKind = "username_password"
)

// CredentialKinds lists every CredentialKind.
var CredentialKinds = []CredentialKind{CredentialAccessToken, CredentialAPIKey, CredentialAppPassword,
	CredentialPersonalAccessToken, CredentialSecretBundle, CredentialUsernamePassword}

// Valid reports whether k is in CredentialKinds.
func (k CredentialKind) Valid() bool      { return slices.Contains(CredentialKinds, k) }
func (k CredentialKind) values() []string { return stringsOf(CredentialKinds) }

// FieldType is how a credential field is shown on a form.
type FieldType string

// The field types.
const (
	FieldText     FieldType = "text"
	FieldPassword FieldType = "password"
	FieldEmail    FieldType = "email"
	FieldURL      FieldType = "url"
	FieldNumber   FieldType = "number"
	FieldTextarea FieldType = "textarea"
	// FieldCheckbox has the value yes if it is ticked, and none otherwise.
	FieldCheckbox FieldType = "checkbox"
)

// FieldTypes lists every FieldType.
var FieldTypes = []FieldType{FieldText, FieldPassword, FieldEmail, FieldURL, FieldNumber, FieldTextarea,
	FieldCheckbox}

// Valid reports whether t is in FieldTypes.
func (t FieldType) Valid() bool      { return slices.Contains(FieldTypes, t) }
func (t FieldType) values() []string { return stringsOf(FieldTypes) }

package declaration

import (
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/manifest"
)

// CredentialForm is what a connector asks for: its own form, or one field for each
// variable that it cannot sign in without, and the folder of an import. It has no
// fields when nothing is asked for.
func CredentialForm(m *manifest.Manifest) manifest.CredentialCapture {
	if m.Setup != nil && m.Setup.CredentialCapture != nil {
		return *m.Setup.CredentialCapture
	}
	form := manifest.CredentialCapture{Kind: manifest.CredentialSecretBundle}
	if m.OAuth() != nil {
		return form // the owner signs in at the provider
	}
	for _, name := range m.CredentialEnv() {
		form.Fields = append(form.Fields, manifest.CredentialField{Name: name, Label: name, Required: true, Secret: true,
			Env: []string{name}})
	}
	if m.ImportVariable() == "" || m.Setup.Modality != manifest.ModalityManualOrUpload {
		return form // files are no way in, or one beside another
	}
	files := m.Setup.ManualOrUpload
	form.Label, form.Description = files.Label, files.Description
	form.Fields = append(form.Fields, manifest.CredentialField{
		Name: files.ImportDirEnvVar, Label: "Folder on the server's machine", Placeholder: "/home/you/exports",
		HelpURL: files.HelpURL, Env: []string{files.ImportDirEnvVar},
		HelpText: "Its whole path. Put into it " + files.Wanted() + ". " + otherwise(m, files.ImportDirEnvVar),
	})
	return form
}

// otherwise describes the default folder that is used when none is named.
func otherwise(m *manifest.Manifest, variable string) string {
	for _, p := range m.ReadPaths() {
		if p.PathEnv == variable && p.Default != "" && p.Within == "" {
			return "Without one, " + p.Default + " in the home folder of whoever runs PDPP counts, if it is there."
		}
	}
	return "Without one, " + variable + " of the program that collects counts."
}

// shownForm is the form as surfaces show it; nil when nothing is asked for.
func shownForm(m *manifest.Manifest) *api.CredentialForm {
	form := CredentialForm(m)
	if len(form.Fields) == 0 {
		return nil
	}
	out := &api.CredentialForm{
		Kind: string(form.Kind), Label: form.Label, Description: form.Description, Submit: form.SubmitLabel,
		Fields: []api.CredentialField{},
	}
	if out.Label == "" {
		out.Label = "Sign in to " + m.DisplayName
	}
	if out.Submit == "" {
		out.Submit = "Connect"
	}
	for _, f := range form.Fields {
		kind := string(f.Type)
		switch {
		case f.Secret && f.Type != "textarea":
			kind = "password"
		case kind == "":
			kind = "text"
		}
		out.Fields = append(out.Fields, api.CredentialField{
			Name: f.Name, Label: f.Label, Type: kind, Help: f.HelpText, Placeholder: f.Placeholder, Required: f.Required &&
				form.IsRequired(), Secret: f.Secret,
		})
	}
	return out
}

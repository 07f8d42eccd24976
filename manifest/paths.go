package manifest

import (
	"slices"
	"strings"
)

// ReadPath is a file or folder that the connector is given to read.
type ReadPath struct {
	LocalPath
	// Import is what the owner provides there; nil where the source itself keeps it.
	Import *FileImport
}

// pathEndings end the names of variables that hold a path.
var pathEndings = []string{"_DIR", "_PATH", "_ROOT", "_FOLDER", "_FILE"}

// ReadPaths are the files and folders that the connector reads: its local paths, the
// folder of an import, and, for a connector that works on files, every variable that is
// named as a path.
func (m *Manifest) ReadPaths() []ReadPath {
	var all []ReadPath
	rr := m.RuntimeRequirements
	if rr != nil {
		for _, p := range rr.LocalPaths {
			all = append(all, ReadPath{LocalPath: p})
		}
	}
	if m.Setup != nil && m.Setup.ManualOrUpload != nil && m.Setup.ManualOrUpload.ImportDirEnvVar != "" {
		files := m.Setup.ManualOrUpload
		folder := ReadPath{LocalPath{PathEnv: files.ImportDirEnvVar, Description: files.Label, Required: m.Setup.Modality == ModalityManualOrUpload}, files}
		if i := slices.IndexFunc(all, func(p ReadPath) bool { return p.PathEnv == files.ImportDirEnvVar }); i >= 0 {
			folder.Default, folder.Within = all[i].Default, all[i].Within // where it is when nobody names it
			all[i] = folder
		} else {
			all = append(all, folder)
		}
	}
	if rr == nil {
		return all
	}
	if _, files := rr.Bindings[BindingFilesystem]; !files {
		return all
	}
	for _, v := range rr.EnvironmentVariables {
		named := slices.ContainsFunc(pathEndings, func(ending string) bool { return strings.HasSuffix(v.Name, ending) })
		known := slices.ContainsFunc(all, func(p ReadPath) bool { return p.PathEnv == v.Name })
		if !named || known || v.Secret {
			continue
		}
		p := ReadPath{LocalPath: LocalPath{PathEnv: v.Name, Description: v.Description, Required: v.Required}}
		if len(rr.LocalPaths) == 0 { // the source keeps nothing here itself
			p.Import = &FileImport{}
		}
		all = append(all, p)
	}
	return all
}

// ImportVariable is the variable through which the connector gets the folder with files that the
// owner gives; empty for a connector that takes none.
func (m *Manifest) ImportVariable() string {
	if m.Setup == nil || m.Setup.ManualOrUpload == nil {
		return ""
	}
	return m.Setup.ManualOrUpload.ImportDirEnvVar
}

// Accepts reports whether a file of that name counts.
func (f *FileImport) Accepts(name string) bool {
	if len(f.AcceptedFileExtensions) == 0 && len(f.AcceptedFileNames) == 0 {
		return true
	}
	ends := func(ending string) bool { return strings.HasSuffix(strings.ToLower(name), strings.ToLower(ending)) }
	return slices.Contains(f.AcceptedFileNames, name) || slices.ContainsFunc(f.AcceptedFileExtensions, ends)
}

// Wanted says in words what the owner is to put into the folder.
func (f *FileImport) Wanted() string {
	if list := append(slices.Clone(f.AcceptedFileNames), f.AcceptedFileExtensions...); len(list) > 0 {
		return "files of these names or endings: " + strings.Join(list, ", ")
	}
	return "the files of the export"
}

package manifest

import (
	"slices"
	"strings"
)

// ReadPath is a file or folder that the connector may read.
type ReadPath struct {
	LocalPath
	// Import describes the files that the owner provides there. It is nil if the source itself maintains the
	// path.
	Import *FileImport
}

// pathEndings are the endings of variables that hold a path.
var pathEndings = []string{"_DIR", "_PATH", "_ROOT", "_FOLDER", "_FILE"}

// ReadPaths returns the files and folders that the connector reads: its local paths, the folder of an import and,
// for a connector that uses files, every variable with the name of a path.
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
		folder := ReadPath{
			LocalPath{
				PathEnv:     files.ImportDirEnvVar,
				Description: files.Label,
				Required:    m.Setup.Modality == ModalityManualOrUpload,
			},
			files,
		}
		if i := slices.IndexFunc(all, func(p ReadPath) bool { return p.PathEnv == files.ImportDirEnvVar }); i >= 0 {
			folder.Default, folder.Within = all[i].Default, all[i].Within // the default location
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
		if len(rr.LocalPaths) == 0 { // the source has no files here
			p.Import = &FileImport{}
		}
		all = append(all, p)
	}
	return all
}

// ImportVariable returns the variable with the folder of the owner's import files. It is empty for a connector
// without an import.
func (m *Manifest) ImportVariable() string {
	if m.Setup == nil || m.Setup.ManualOrUpload == nil {
		return ""
	}
	return m.Setup.ManualOrUpload.ImportDirEnvVar
}

// Accepts reports whether a file with that name is part of the import.
func (f *FileImport) Accepts(name string) bool {
	if len(f.AcceptedFileExtensions) == 0 && len(f.AcceptedFileNames) == 0 {
		return true
	}
	ends := func(ending string) bool { return strings.HasSuffix(strings.ToLower(name), strings.ToLower(ending)) }
	return slices.Contains(f.AcceptedFileNames, name) || slices.ContainsFunc(f.AcceptedFileExtensions, ends)
}

// Wanted describes, for the owner, which files to put into the folder.
func (f *FileImport) Wanted() string {
	if list := append(slices.Clone(f.AcceptedFileNames), f.AcceptedFileExtensions...); len(list) > 0 {
		return "files of these names or endings: " + strings.Join(list, ", ")
	}
	return "the files of the export"
}

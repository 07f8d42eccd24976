// Package generators pins the code generators of OpenAPI and what their output needs. It is a module of its own, so
// that no program and no importer gets them.
package generators

import _ "github.com/oapi-codegen/runtime" // the generated client imports it

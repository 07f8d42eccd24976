package openapi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

const modulePath = "github.com/pdpp-go/pdpp/"

// source reads the comments of types and the constants of text types.
type source struct {
	root  string
	read  map[string]bool     // packages
	texts map[string]string   // by package path, type and field
	words map[string][]string // by package path and type
}

func newSource(root string) *source {
	return &source{root: root, read: map[string]bool{}, texts: map[string]string{}, words: map[string][]string{}}
}

// load reads a package of this module.
func (s *source) load(pkg string) {
	folder, ours := strings.CutPrefix(pkg, modulePath)
	if !ours || s.read[pkg] {
		return
	}
	s.read[pkg] = true
	files, _ := filepath.Glob(filepath.Join(s.root, folder, "*.go"))
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue // the compiler reports it
		}
		for _, declaration := range parsed.Decls {
			if general, is := declaration.(*ast.GenDecl); is {
				s.loadDeclaration(pkg, general)
			}
		}
	}
}

func (s *source) loadDeclaration(pkg string, general *ast.GenDecl) {
	for _, spec := range general.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc := spec.Doc
			if doc == nil {
				doc = general.Doc
			}
			s.texts[pkg+"."+spec.Name.Name] = doc.Text()
			if fields, is := spec.Type.(*ast.StructType); is {
				s.loadFields(pkg+"."+spec.Name.Name, fields)
			}
		case *ast.ValueSpec:
			name, typed := spec.Type.(*ast.Ident)
			if !typed || general.Tok != token.CONST {
				continue
			}
			for _, value := range spec.Values {
				if literal, is := value.(*ast.BasicLit); is && literal.Kind == token.STRING {
					word, _ := strconv.Unquote(literal.Value)
					s.words[pkg+"."+name.Name] = append(s.words[pkg+"."+name.Name], word)
				}
			}
		}
	}
}

func (s *source) loadFields(typ string, fields *ast.StructType) {
	for _, field := range fields.Fields.List {
		for _, name := range field.Names {
			s.texts[typ+"."+name.Name] = strings.TrimSpace(field.Doc.Text() + "\n" + field.Comment.Text())
		}
	}
}

func (s *source) constants(t reflect.Type) []string {
	s.load(t.PkgPath())
	return s.words[t.PkgPath()+"."+t.Name()]
}

// typeText returns the comment of a type, which begins with the name of its schema.
func (s *source) typeText(t reflect.Type, name string) string {
	s.load(t.PkgPath())
	text := sentence(s.texts[t.PkgPath()+"."+t.Name()])
	if rest, is := strings.CutPrefix(text, capitalized(t.Name())+" "); is {
		text = name + " " + rest
	}
	return withMembers(text, t)
}

// fieldText returns the comment of a field, with the JSON names of the fields that it mentions.
func (s *source) fieldText(t reflect.Type, field reflect.StructField) string {
	if note := field.Tag.Get("note"); note != "" {
		return note
	}
	of := t.PkgPath() + "." + t.Name() + "." + field.Name
	if from := field.Tag.Get("from"); from != "" { // a copy of another field
		of = from + "." + field.Name
	}
	s.load(of[:strings.LastIndexByte(of[:strings.LastIndexByte(of, '.')], '.')])
	return withMembers(sentence(s.texts[of]), t)
}

// sentence makes a comment a sentence.
func sentence(comment string) string {
	text := strings.Join(strings.Fields(comment), " ")
	if text == "" {
		return ""
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return capitalized(text)
}

func capitalized(text string) string {
	letters := []rune(text)
	letters[0] = unicode.ToUpper(letters[0])
	return string(letters)
}

var goName = regexp.MustCompile(`\b[A-Z][A-Za-z0-9]*\b`)

func withMembers(text string, t reflect.Type) string {
	if t.Kind() != reflect.Struct {
		return text
	}
	return goName.ReplaceAllStringFunc(text, func(word string) string {
		field, ok := t.FieldByName(word)
		if !ok {
			return word
		}
		for _, tag := range []string{"json", "query"} {
			if name, _, _ := strings.Cut(field.Tag.Get(tag), ","); name != "" && name != "-" {
				return name
			}
		}
		return word
	})
}

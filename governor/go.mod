module github.com/pdpp-go/pdpp/governor

go 1.26.0

module github.com/cloudsoda/sddl

go 1.26

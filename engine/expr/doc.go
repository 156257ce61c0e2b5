// Package expr compiles the expressions that pipelines hold into kernels over
// columns: conditions here, calculations in calc, Excel formulas in formula,
// JavaScript in javascript, Java's regular expressions in javaregex.
//
// A Condition is what the file says. Compile binds it to a schema and gives a
// Predicate, which turns a batch into the selection of the rows that satisfy it.
package expr

package workingcontext

// Fitting is fitting, for the tests of its sizes.
var Fitting = fitting

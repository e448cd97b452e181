// The format that a program of fuzz_reader.cpp reads.
extern const char* const kFuzzFormat;
const char* const kFuzzFormat = SUNDER_FUZZ_FORMAT;

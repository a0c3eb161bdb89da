// The short programs whose times `calibrate` takes: a loop each, around what is to be measured.
#pragma once

#include <cstdint>
#include <string>

namespace heddle::trials {

// A loop that computes %z from %y in every turn; %a is an argument that stays.
std::string loop_text(int turns, const std::string& carried, const std::string& other,
                      const std::string& body);

// So many arguments, each of which becomes a result.
std::string negations(int count);

std::string vector_type(std::int64_t n);
std::string matrix_type(std::int64_t m, std::int64_t n, const std::string& element = "f32");

std::string chain(std::int64_t n, int length);
std::string exponentials(std::int64_t n, int count);
std::string gathered(std::int64_t n);
std::string two_products(std::int64_t m, std::int64_t n, std::int64_t k,
                         const std::string& element = "f32");

// Of images with so many channels, as many of which come out.
std::string images_type(std::int64_t channels);
std::string window_type(std::int64_t channels);
std::string convolution(std::int64_t channels);

}  // namespace heddle::trials

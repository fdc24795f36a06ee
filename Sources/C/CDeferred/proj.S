// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#include "deferred.h"

#define LIBRARY cairn_libproj
FUNCTION(proj_context_create)
FUNCTION(proj_context_destroy)
FUNCTION(proj_context_set_enable_network)
FUNCTION(proj_coord)
FUNCTION(proj_create_crs_to_crs_from_pj)
FUNCTION(proj_create_from_database)
FUNCTION(proj_create_from_wkt)
FUNCTION(proj_crs_get_coordinate_system)
FUNCTION(proj_crs_get_geodetic_crs)
FUNCTION(proj_crs_get_sub_crs)
FUNCTION(proj_cs_get_axis_info)
FUNCTION(proj_cs_get_type)
FUNCTION(proj_destroy)
FUNCTION(proj_ellipsoid_get_parameters)
FUNCTION(proj_get_area_of_use)
FUNCTION(proj_get_celestial_body_name)
FUNCTION(proj_get_ellipsoid)
FUNCTION(proj_get_prime_meridian)
FUNCTION(proj_get_source_crs)
FUNCTION(proj_get_type)
FUNCTION(proj_log_level)
FUNCTION(proj_normalize_for_visualization)
FUNCTION(proj_prime_meridian_get_parameters)
FUNCTION(proj_trans)
